//! One file per subcommand.

pub(crate) mod account;
pub(crate) mod audit;
pub(crate) mod baseline;
pub(crate) mod budget;
pub(crate) mod calibrate;
pub(crate) mod check;
pub(crate) mod demo;
pub(crate) mod evaluate;
pub(crate) mod export;
pub(crate) mod influence;
pub(crate) mod manual;
pub(crate) mod migrate;
pub(crate) mod plan;
pub(crate) mod predict;
pub(crate) mod report;
pub(crate) mod schema;
pub(crate) mod show;
pub(crate) mod sign;
pub(crate) mod simulate;
pub(crate) mod stability;
pub(crate) mod train;
pub(crate) mod verify;
pub(crate) mod worker;
