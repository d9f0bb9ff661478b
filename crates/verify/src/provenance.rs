//! Whether a certificate is of the weights that it lies beside.

use crate::facts::Facts;
use pairdp_certificate::Provenance;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

pub(crate) const RELATION: &str = "the weights are those that the certificate names, if it names any";

pub(crate) fn check(facts: &Facts<'_>) -> Result<(), String> {
    let Some(provenance) = &facts.certificate.provenance else { return Ok(()) };
    provenance.check()?;
    let predictor = &facts.document.predictor;
    let places = predictor.representation.as_ref().map_or(&[][..], |released| &released.weights);
    let digest = Sha256::digest(Provenance::hashed(&predictor.parameters, places));
    let found = digest.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    if found == provenance.weights {
        return Ok(());
    }
    Err(format!("the digest of the weights is {found}, and the certificate is of {}", provenance.weights))
}
