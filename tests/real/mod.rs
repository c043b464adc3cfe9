//! Real Kubernetes clusters on this machine, without containers: their programs, certificates and processes.

pub(crate) mod cluster;
pub(crate) mod folder;
pub(crate) mod kubectl;
pub(crate) mod pki;
pub(crate) mod process;
pub(crate) mod programs;
