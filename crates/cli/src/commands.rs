//! One file per subcommand.

pub(crate) mod account;
pub(crate) mod budget;
pub(crate) mod demo;
pub(crate) mod evaluate;
pub(crate) mod predict;
pub(crate) mod simulate;
pub(crate) mod train;
pub(crate) mod verify;
