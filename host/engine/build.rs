//! Tells the crate which platform it is built for: components are compiled ahead for that, and not for the builder's CPU.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-env=WINDLASS_TARGET={}", std::env::var("TARGET").unwrap_or_default());
}
