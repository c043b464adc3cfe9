//! What wit-bindgen makes of `wit/`: one module per world, and the records that the worlds share, made once.
//! Authors use the re-exports of `scheduler`, `interpreter` and `transformer` instead.
#![allow(missing_docs, reason = "the comments are in the .wit files; wit-bindgen copies most of them")]
#![allow(unreachable_pub, clippy::all, clippy::indexing_slicing, reason = "generated code")]
#![allow(clippy::panic, clippy::unwrap_used, clippy::expect_used, reason = "generated code")]
#![allow(clippy::allow_attributes_without_reason, reason = "generated code")]

/// `windlass:types`, for all worlds.
pub mod shared {
    wit_bindgen::generate!({
        path: ["../../wit/types/0.1.0"],
        inline: "
            package windlass:sdk;
            world shared {
                import windlass:types/types@0.1.0;
                import windlass:types/host@0.1.0;
            }
        ",
        generate_all,
        generate_unused_types: true,
        additional_derives: [PartialEq],
    });
}

/// World `windlass:scheduler/scheduler-plugin`.
#[cfg(feature = "scheduler")]
pub mod scheduler {
    wit_bindgen::generate!({
        path: ["../../wit/types/0.1.0", "../../wit/scheduler/0.1.0"],
        world: "windlass:scheduler/scheduler-plugin@0.1.0",
        with: {
            "windlass:types/types@0.1.0": crate::bindings::shared::windlass::types::types,
            "windlass:types/host@0.1.0": crate::bindings::shared::windlass::types::host,
        },
        pub_export_macro: true,
        export_macro_name: "__export_scheduler_world",
        default_bindings_module: "windlass_sdk::bindings::scheduler",
        additional_derives: [PartialEq],
    });
}

/// World `windlass:interpreter/interpreter-plugin`.
#[cfg(feature = "interpreter")]
pub mod interpreter {
    wit_bindgen::generate!({
        path: ["../../wit/types/0.1.0", "../../wit/interpreter/0.1.0"],
        world: "windlass:interpreter/interpreter-plugin@0.1.0",
        with: {
            "windlass:types/types@0.1.0": crate::bindings::shared::windlass::types::types,
            "windlass:types/host@0.1.0": crate::bindings::shared::windlass::types::host,
        },
        pub_export_macro: true,
        export_macro_name: "__export_interpreter_world",
        default_bindings_module: "windlass_sdk::bindings::interpreter",
        additional_derives: [PartialEq],
    });
}

/// World `windlass:overrides/override-transformer`.
#[cfg(feature = "transformer")]
pub mod transformer {
    wit_bindgen::generate!({
        path: ["../../wit/types/0.1.0", "../../wit/overrides/0.1.0"],
        world: "windlass:overrides/override-transformer@0.1.0",
        with: {
            "windlass:types/types@0.1.0": crate::bindings::shared::windlass::types::types,
            "windlass:types/host@0.1.0": crate::bindings::shared::windlass::types::host,
        },
        pub_export_macro: true,
        export_macro_name: "__export_transformer_world",
        default_bindings_module: "windlass_sdk::bindings::transformer",
        additional_derives: [PartialEq],
    });
}
