//! `pairdp keygen` and `pairdp sign`: who says that a model is what its certificate says.

use crate::args::{Keygen, Sign};
use crate::failure::Failure;
use crate::files;
use crate::output::{Force, Kind, Output, Role, Taken};
use crate::printer::Printer;
use crate::signing::{Signing, public_beside, read_secret};
use pairdp_signature::SecretKey;
use serde_json::json;
use std::process::ExitCode;

pub(crate) fn keygen(arguments: &Keygen, printer: &Printer) -> Result<ExitCode, Failure> {
    let (path, public) = (&arguments.key, public_beside(&arguments.key));
    // A kill between the two leaves a key whose public half can be had again.
    let (key, place) = if path.exists() && !public.exists() {
        (read_secret(path)?, None)
    } else {
        let place = Output::new(path, Kind::SigningKey, Force::Never, &Taken::none())?;
        (SecretKey::new()?, Some(place))
    };
    // Both places are taken before either is filled.
    let beside = Output::new(&public, Kind::PublicKey, Force::Never, &Taken::none().and(path, Role::Key))?;
    if let Some(place) = place {
        place.write(key.to_text().as_bytes())?;
    }
    beside.write(key.public().to_text().as_bytes())?;
    let text = format!(
        "{} signs, and is for you alone; {} checks, and is for everybody\nthe public key is {}",
        path.display(),
        public.display(),
        key.public().digits()
    );
    printer.result(&text, &json!({ "key": path, "public": public, "digits": key.public().digits() }));
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn sign(arguments: &Sign, printer: &Printer) -> Result<ExitCode, Failure> {
    let Sign { model, key, force } = arguments;
    let signing = Signing::prepare(key, model, Force::from(*force), &Taken::none())?;
    let (_, text) = files::read_certified(model)?;
    let (path, digits) = signing.sign(text.as_bytes())?;
    let message = format!(
        "wrote {}, the signature of {} with the key {digits}\ncheck it with: pairdp verify {} --signed-by {}",
        path.display(),
        model.display(),
        model.display(),
        public_beside(key).display()
    );
    printer.result(&message, &json!({ "signature": path, "model": model, "key": digits }));
    Ok(ExitCode::SUCCESS)
}
