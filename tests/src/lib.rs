//! What crosses crates: vectors through the shipped components, sessions of stock clients, crashes.
//! Everything is in `tests/`; this library is empty.
