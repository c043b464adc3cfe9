//! Cases of structural schemas, strategic merge and server-side apply, read from
//! `tests/cases`, what a real server made of writes, and properties that hold for any input.

#[cfg(test)]
mod apply;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod recorded;
#[cfg(test)]
mod speed;
#[cfg(test)]
mod strategic;
#[cfg(test)]
mod structural;
#[cfg(test)]
mod support;
