//! What `bindgen!` makes of `wit/*/0.1.0`.
#![allow(missing_docs, unreachable_pub, clippy::all, clippy::indexing_slicing, reason = "generated code")]
#![allow(clippy::allow_attributes_without_reason, reason = "generated code")]

pub(crate) mod shared {
    wasmtime::component::bindgen!({
        path: ["../../wit/types/0.1.0"],
        inline: "
            package windlass:engine;
            world shared {
                import windlass:types/types@0.1.0;
                import windlass:types/host@0.1.0;
            }
        ",
    });
}

pub(crate) mod scheduler {
    wasmtime::component::bindgen!({
        path: ["../../wit/types/0.1.0", "../../wit/scheduler/0.1.0"],
        world: "windlass:scheduler/scheduler-plugin@0.1.0",
        with: {
            "windlass:types/types@0.1.0": super::shared::windlass::types::types,
            "windlass:types/host@0.1.0": super::shared::windlass::types::host,
        },
    });
}

pub(crate) mod interpreter {
    wasmtime::component::bindgen!({
        path: ["../../wit/types/0.1.0", "../../wit/interpreter/0.1.0"],
        world: "windlass:interpreter/interpreter-plugin@0.1.0",
        with: {
            "windlass:types/types@0.1.0": super::shared::windlass::types::types,
            "windlass:types/host@0.1.0": super::shared::windlass::types::host,
        },
    });
}

pub(crate) mod transformer {
    wasmtime::component::bindgen!({
        path: ["../../wit/types/0.1.0", "../../wit/overrides/0.1.0"],
        world: "windlass:overrides/override-transformer@0.1.0",
        with: {
            "windlass:types/types@0.1.0": super::shared::windlass::types::types,
            "windlass:types/host@0.1.0": super::shared::windlass::types::host,
        },
    });
}
