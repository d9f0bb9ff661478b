//! Keys, signatures and models of former versions.

use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "\
KEY is for you alone: whoever has it signs in your name. KEY.pub is for everybody who checks models.
Neither is ever overwritten. If KEY is there and KEY.pub is not, KEY.pub is written again.

Examples:
  pairdp keygen custodian.key")]
pub(crate) struct Keygen {
    /// File for the signing key, readable by its owner alone
    pub(crate) key: PathBuf,
}

#[derive(Args)]
#[command(after_help = "\
A certificate says why a model is private, and not who says so. A signature binds the file, byte by
byte, to whoever holds a key. It is written beside the model, as MODEL.signature; the model stays as
it is. Sign what you verified.

Examples:
  pairdp sign model.json --key custodian.key
  pairdp verify model.json --signed-by custodian.key.pub")]
pub(crate) struct Sign {
    /// Model file
    pub(crate) model: PathBuf,
    /// Signing key, which `pairdp keygen` wrote
    #[arg(long, value_name = "KEY")]
    pub(crate) key: PathBuf,
    /// Replace a signature that is there already
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args)]
#[command(after_help = "\
Models of version 0.1 are read as they are; this is for whoever wants all files in one format. What
the model computes stays the same, to the last bit, and so does its guarantee: a certificate that
does not verify is not rewritten. A signature is of the old file; sign the new one again.

Examples:
  pairdp migrate old.json --out model.json")]
pub(crate) struct Migrate {
    /// Model file of a former version
    pub(crate) model: PathBuf,
    /// Model file to write
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Give up if verifying the model would take longer than about this
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    pub(crate) patience: f64,
}
