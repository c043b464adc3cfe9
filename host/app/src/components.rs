//! The components that the binary carries.

/// A component that was built with the host.
#[derive(Debug)]
pub(crate) struct Embedded {
    /// The guest crate's name: `filter-taint-toleration`.
    pub(crate) name: &'static str,
    /// The component itself.
    pub(crate) wasm: &'static [u8],
    /// The same, compiled ahead for this host, if xtask did so.
    pub(crate) compiled: Option<&'static [u8]>,
}

/// All of them, by name.
pub(crate) const EMBEDDED: &[Embedded] = include!(concat!(env!("OUT_DIR"), "/components.rs"));
