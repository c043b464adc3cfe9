//! A loaded component: compiled, known by its digest, not yet running.

use crate::engine::Engine;
use crate::error::{CallError, LoadError};
use crate::state::HostState;
use crate::version::{Version, World};
use wasmtime::component::{Component as Compiled, InstancePre};

/// A component that the host can run. Cheap to clone.
#[derive(Clone)]
pub struct Component {
    pub(crate) engine: Engine,
    pub(crate) name: String,
    pub(crate) digest: String,
    pub(crate) world: World,
    pub(crate) version: Version,
    pub(crate) compiled: Compiled,
}

impl Component {
    /// What it was called when it was loaded.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// `sha256:` and 64 hexadecimal digits.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// What kind of plugin it is.
    pub fn world(&self) -> World {
        self.world
    }

    /// For which version of the interface it was built.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Makes sure that the component is of this kind, and links it.
    pub(crate) fn link(&self, wanted: World) -> Result<InstancePre<HostState>, LoadError> {
        if self.world != wanted {
            return Err(LoadError::WrongWorld { name: self.name.clone(), found: self.world, wanted });
        }
        self.engine
            .linker()
            .instantiate_pre(&self.compiled)
            .map_err(|why| LoadError::Compile { name: self.name.clone(), why: format!("{why:#}") })
    }

    pub(crate) fn refuse(&self, why: CallError) -> LoadError {
        LoadError::Start { name: self.name.clone(), why }
    }
}

impl std::fmt::Debug for Component {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Component")
            .field("name", &self.name)
            .field("digest", &self.digest)
            .finish_non_exhaustive()
    }
}
