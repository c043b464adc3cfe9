//! Plays scripts to API servers and compares what they answer; `README.md` has the language of the scripts.

pub(crate) mod client;
pub(crate) mod compare;
pub(crate) mod normal;
pub(crate) mod play;
pub(crate) mod reference;
pub(crate) mod script;
pub(crate) mod subject;
