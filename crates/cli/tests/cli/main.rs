//! The `pairdp` command as its users meet it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod account;
mod budget;
mod checkpoint;
mod common;
mod evidence;
mod kills;
mod path;
mod refusals;
mod repository;
mod schema;
