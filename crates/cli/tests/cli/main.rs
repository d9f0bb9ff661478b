//! The `pairdp` command as its users meet it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod account;
mod budget;
mod checkpoint;
mod common;
mod decisions;
mod delivery;
mod engines;
mod evaluate;
mod evidence;
mod foreign;
mod interrupts;
mod kills;
mod manual;
mod networks;
mod outputs;
mod pages;
mod path;
mod persons;
mod predict;
mod progress;
mod reasons;
mod refusals;
mod report;
mod repository;
mod schema;
mod secrets;
mod signing;
mod snapshots;
mod survival;
mod warnings;
mod wide;
