//! What may go wrong: when a component is loaded, and when it is called.

use crate::limits;
use crate::version::World;

/// Why a component can't be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Larger than any component should be.
    #[error("component {name} has {size} bytes; {limit} are allowed", limit = limits::COMPONENT)]
    TooLarge {
        /// The component.
        name: String,
        /// Its size.
        size: usize,
    },
    /// Not a WebAssembly component, or a broken one.
    #[error(
        "{name} is no WebAssembly component ({why}); build guests with `cargo xtask guests` or `wasm-tools component new`"
    )]
    NotAComponent {
        /// The component.
        name: String,
        /// What the parser says.
        why: String,
    },
    /// It exports no interface of ours.
    #[error("component {name} exports none of {known}; it exports {found}")]
    NoInterface {
        /// The component.
        name: String,
        /// What it could export.
        known: String,
        /// What it does export.
        found: String,
    },
    /// It was built for a version of an interface that this host doesn't speak.
    #[error("component {name} is built for {found}; this host speaks {known}")]
    UnsupportedVersion {
        /// The component.
        name: String,
        /// The interface with its version.
        found: String,
        /// The versions that the host has adapters for.
        known: String,
    },
    /// It asks for something that plugins don't get.
    #[error(
        "component {name} imports {import}; plugins get nothing but {allowed} (for WASI, build with its imports stubbed)"
    )]
    ForeignImport {
        /// The component.
        name: String,
        /// What it asks for.
        import: String,
        /// What there is.
        allowed: String,
    },
    /// It is a plugin, but of another kind than is needed here.
    #[error("component {name} is {found}, but {wanted} is needed here")]
    WrongWorld {
        /// The component.
        name: String,
        /// What it is.
        found: World,
        /// What is needed.
        wanted: World,
    },
    /// The compiler refuses it.
    #[error("component {name} can't be compiled: {why}")]
    Compile {
        /// The component.
        name: String,
        /// What the compiler says.
        why: String,
    },
    /// It failed when it was described or configured.
    #[error("plugin {name} can't be started: {why}")]
    Start {
        /// The component.
        name: String,
        /// What it did.
        why: CallError,
    },
    /// Its description is unusable.
    #[error("plugin {name} describes itself wrongly: {why}")]
    Description {
        /// The component.
        name: String,
        /// What is wrong.
        why: String,
    },
}

/// The engine itself can't be started.
#[derive(Debug, thiserror::Error)]
#[error("the WebAssembly engine can't be started: {0}")]
pub struct EngineError(pub(crate) String);

/// How a call ended that gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The plugin says that its input can't be understood; the text is for the user.
    #[error("{0}")]
    Invalid(String),
    /// The plugin doesn't do this.
    #[error("not supported by the plugin")]
    Unsupported,
    /// The plugin failed, or its answer breaks the interface's rules; the text is for the operator.
    #[error("internal error: {0}")]
    Internal(String),
    /// The plugin crashed or reached a limit other than time. Its instance is gone.
    #[error("trapped: {0}")]
    Trapped(String),
    /// The plugin didn't answer in time. Its instance is gone.
    #[error("no answer within the deadline")]
    Timeout,
}

/// What a plugin itself may answer instead of a result; the same for all worlds and versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GuestError {
    /// Its table is not of the generation asked for.
    Stale,
    /// For the user.
    Invalid(String),
    /// Not a kind or operation of the plugin.
    Unsupported,
    /// For the operator.
    Internal(String),
}

impl From<GuestError> for CallError {
    fn from(error: GuestError) -> Self {
        match error {
            GuestError::Stale => {
                Self::Internal("the plugin calls its table stale right after a sync".to_owned())
            }
            GuestError::Invalid(text) => Self::Invalid(limits::shorten(text, limits::MESSAGE)),
            GuestError::Unsupported => Self::Unsupported,
            GuestError::Internal(text) => Self::Internal(limits::shorten(text, limits::MESSAGE)),
        }
    }
}

impl CallError {
    /// What wasmtime's error means: a trap, the deadline, or something that should not happen but costs only the call.
    pub(crate) fn of(error: &wasmtime::Error) -> Self {
        match error.downcast_ref::<wasmtime::Trap>() {
            Some(wasmtime::Trap::Interrupt) => Self::Timeout,
            Some(trap) => Self::Trapped(trap.to_string()),
            None => Self::Trapped(limits::shorten(error.root_cause().to_string(), limits::MESSAGE)),
        }
    }
}
