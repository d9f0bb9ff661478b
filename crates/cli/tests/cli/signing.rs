//! Where a model comes from, who answers for it, and models of former versions.

use crate::common::Workplace;
use serde_json::{Value, json};

fn signed() -> Workplace {
    let workplace = Workplace::with_cohort(300);
    assert_eq!(workplace.run("keygen custodian.key").code, 0);
    let run =
        workplace.run("train cohort.csv --epsilon 1 --delta 1e-6 --sign-with custodian.key --out model.json");
    assert!(run.code == 0 && run.out.contains("wrote model.json.signature"), "{}{}", run.out, run.err);
    workplace
}

fn document(workplace: &Workplace, name: &str) -> Value {
    serde_json::from_str(&workplace.read(name)).unwrap()
}

#[test]
fn a_signed_model_is_verified_by_the_public_key() {
    let workplace = signed();
    let run = workplace.run("verify model.json --signed-by custodian.key.pub");
    assert!(run.code == 0 && run.out.contains("holds  signature"), "{}{}", run.out, run.err);
    let told: Value =
        serde_json::from_str(&workplace.run("verify model.json --signed-by custodian.key.pub --json").out)
            .unwrap();
    assert_eq!((&told["signature"], &told["holds"]), (&json!(true), &json!(true)));
    // The same signature, given later and kept elsewhere.
    let given = workplace.read("model.json.signature");
    let run = workplace.run("sign model.json --key custodian.key");
    assert!(run.code == 1 && run.err.contains("there is a signature already"), "{}", run.err);
    assert_eq!(workplace.run("sign model.json --key custodian.key --force").code, 0);
    assert_eq!(workplace.read("model.json.signature"), given);
    workplace.write("elsewhere", &given);
    assert_eq!(
        workplace.run("verify model.json --signed-by custodian.key.pub --signature elsewhere").code,
        0
    );
}

#[test]
fn no_other_file_key_or_signature_passes() {
    let workplace = signed();
    let refused = |arguments: &str, why: &str| {
        let run = workplace.run(arguments);
        let said = format!("{}{}", run.out, run.err);
        assert!(run.code == 1 && said.contains(why), "{arguments}: {said}");
    };
    // Another model, with the signature of this one.
    workplace.run("train cohort.csv --epsilon 1 --delta 1e-6 --out other.json");
    std::fs::copy(workplace.path("model.json.signature"), workplace.path("other.json.signature")).unwrap();
    refused("verify other.json --signed-by custodian.key.pub", "the signature is not of this file");
    let told: Value =
        serde_json::from_str(&workplace.run("verify other.json --signed-by custodian.key.pub --json").out)
            .unwrap();
    assert_eq!((&told["signature"], &told["holds"]), (&json!(false), &json!(false)));
    // The same numbers, written otherwise.
    let compact = serde_json::to_string(&document(&workplace, "model.json")).unwrap();
    workplace.write("compact.json", &compact);
    std::fs::copy(workplace.path("model.json.signature"), workplace.path("compact.json.signature")).unwrap();
    assert_eq!(workplace.run("verify compact.json").code, 0);
    refused("verify compact.json --signed-by custodian.key.pub", "the signature is not of this file");
    // Another key.
    workplace.run("keygen other.key");
    refused("verify model.json --signed-by other.key.pub", "the signature is another key's");
    // Truncated keys, keys in each other's place, and no keys.
    let (key, public) = (workplace.read("custodian.key"), workplace.read("custodian.key.pub"));
    workplace.write("short.pub", &public[..public.len() - 3]);
    refused("verify model.json --signed-by short.pub", "short.pub: this is no public key");
    refused("verify model.json --signed-by custodian.key", "this is no public key");
    refused("verify model.json --signed-by model.json", "this is no public key");
    workplace.write("short.key", &key[..key.len() - 3]);
    refused("sign other.json --key short.key", "short.key: this is no signing key");
    refused("sign other.json --key custodian.key.pub", "this is no signing key");
    refused("sign cohort.csv --key custodian.key", "not a pairdp model");
    workplace
        .write("model.json.signature", "{\"format\":\"pairdp-signature/1\",\"key\":\"\",\"signature\":\"\"}");
    refused("verify model.json --signed-by custodian.key.pub", "this is no signature");
    std::fs::remove_file(workplace.path("model.json.signature")).unwrap();
    refused("verify model.json --signed-by custodian.key.pub", "no such file");
    assert_eq!(workplace.run("verify model.json").code, 0);
}

#[test]
fn keys_are_their_owners_and_never_overwritten() {
    let workplace = Workplace::with_cohort(300);
    assert_eq!(workplace.run("keygen custodian.key").code, 0);
    let (key, public) = (workplace.read("custodian.key"), workplace.read("custodian.key.pub"));
    let run = workplace.run("keygen custodian.key");
    assert!(run.code == 1 && run.err.contains("this is a key"), "{}", run.err);
    // A kill between the two files leaves this.
    std::fs::remove_file(workplace.path("custodian.key.pub")).unwrap();
    assert_eq!(workplace.run("keygen custodian.key").code, 0);
    assert_eq!(
        (workplace.read("custodian.key"), workplace.read("custodian.key.pub")),
        (key.clone(), public.clone())
    );
    // A public key that is another's stays, and no key without its public half is left.
    std::fs::rename(workplace.path("custodian.key.pub"), workplace.path("new.key.pub")).unwrap();
    assert_eq!(workplace.run("keygen new.key").code, 1);
    assert!(!workplace.path("new.key").exists() && workplace.read("new.key.pub") == public);
    for arguments in [
        "train cohort.csv --epsilon 1 --delta 1e-6 --out custodian.key",
        "train cohort.csv --epsilon 1 --delta 1e-6 --force --out custodian.key",
        "train cohort.csv --epsilon 1 --delta 1e-6 --sign-with custodian.key --out custodian.key --force",
        "simulate --records 10 --out custodian.key --force",
        "schema init cohort.csv --out custodian.key",
    ] {
        assert_eq!(workplace.run(arguments).code, 1, "{arguments}");
        assert_eq!(workplace.read("custodian.key"), key, "{arguments}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let path = workplace.path("custodian.key");
        let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&workplace.path("new.key.pub")) & 0o444), (0o600, 0o444));
        for wide in [0o640, 0o604, 0o620] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(wide)).unwrap();
            // Before anything is spent.
            let run = workplace
                .run("train cohort.csv --epsilon 1 --delta 1e-6 --sign-with custodian.key --out model.json");
            assert!(run.code == 1 && run.err.contains("others may read or change this key"), "{}", run.err);
            assert!(!workplace.path("model.json").exists());
        }
    }
    assert!(workplace.files().iter().all(|name| !name.contains("draft")), "{:?}", workplace.files());
}

#[test]
fn a_certificate_says_where_the_model_comes_from_and_of_which_weights_it_is() {
    let workplace = Workplace::with_cohort(300);
    for arguments in [
        "budget create stays --ledger ledger.db --records 300 --epsilon 5 --delta 1e-5 --schema cohort.schema.toml",
        "train cohort.csv --epsilon 1 --delta 1e-6 --ledger ledger.db --dataset stays --out booked.json",
        "train cohort.csv --epsilon 1 --delta 1e-6 --out free.json",
    ] {
        let run = workplace.run(arguments);
        assert_eq!(run.code, 0, "{arguments}: {}", run.err);
    }
    let (booked, free) = (document(&workplace, "booked.json"), document(&workplace, "free.json"));
    let (of_booked, of_free) = (&booked["certificate"]["provenance"], &free["certificate"]["provenance"]);
    assert_eq!((&of_booked["data_set"], &of_booked["run"]), (&json!("stays"), &booked["run"]));
    assert_eq!((&of_free["data_set"], &of_free["run"]), (&Value::Null, &Value::Null));
    assert_eq!(of_booked["software"], format!("pairdp {}", env!("CARGO_PKG_VERSION")));
    // The schema is the same, whether a ledger has seen it or not.
    assert_eq!(of_booked["schema"], of_free["schema"]);
    assert_ne!(of_booked["weights"], of_free["weights"]);
    // Weights of another model, under a certificate that is not theirs.
    let mut swapped = free.clone();
    swapped["predictor"]["parameters"] = booked["predictor"]["parameters"].clone();
    swapped["predictor"]["representation"] = booked["predictor"]["representation"].clone();
    workplace.write("swapped.json", &swapped.to_string());
    let run = workplace.run("verify swapped.json");
    assert!(run.code == 1 && run.out.contains("FAILS  provenance"), "{}", run.out);
    for (entry, value) in [
        ("date", json!("2026-2-1")),
        ("weights", json!("0")),
        ("schema", json!("x")),
        ("software", json!("")),
    ] {
        let mut odd = free.clone();
        odd["certificate"]["provenance"][entry] = value;
        workplace.write("odd.json", &odd.to_string());
        assert_eq!(workplace.run("verify odd.json").code, 1, "{entry}");
    }
    // Certificates of before have none, and are what they were.
    let mut before = free;
    before["certificate"].as_object_mut().unwrap().remove("provenance");
    workplace.write("before.json", &before.to_string());
    assert_eq!(workplace.run("verify before.json").code, 0);
}

#[test]
fn models_of_version_0_1_are_written_anew_and_others_are_named() {
    let workplace = Workplace::with_cohort(300);
    let run = workplace.run(
        "train cohort.csv --epsilon 1 --delta 1e-6 --representation ranges --algorithm noisy-gd --out model.json",
    );
    assert_eq!(run.code, 0, "{}", run.err);
    let new = document(&workplace, "model.json");
    let mut old = new.clone();
    old["certificate"]["format"] = json!("pairdp-certificate/2");
    old["certificate"].as_object_mut().unwrap().remove("provenance");
    workplace.write("old.json", &old.to_string());
    let run = workplace.run("migrate old.json --out migrated.json");
    assert!(run.code == 0 && run.out.contains("the same weights and guarantee"), "{}{}", run.out, run.err);
    assert_eq!(workplace.run("verify migrated.json").code, 0);
    let mut expected = old.clone();
    expected["certificate"]["format"] = json!("pairdp-certificate/3");
    assert_eq!(document(&workplace, "migrated.json"), expected);
    assert_eq!(
        workplace.run("predict migrated.json cohort.csv").out,
        workplace.run("predict old.json cohort.csv").out
    );
    // Nothing is overwritten, and nothing is written that needs no change.
    assert_eq!(workplace.run("migrate old.json --out model.json").code, 1);
    assert_eq!(workplace.run("migrate old.json --out old.json").code, 1);
    let run = workplace.run("migrate model.json --out again.json");
    assert!(
        run.code == 0 && run.out.contains("nothing was written") && !workplace.path("again.json").exists()
    );
    // A claim that does not hold is not made again.
    let mut broken = old.clone();
    broken["certificate"]["claim"]["epsilon"] = json!(0.5);
    workplace.write("broken.json", &broken.to_string());
    let run = workplace.run("migrate broken.json --out b.json");
    assert!(run.code == 1 && run.err.contains("does not prove what it claims"), "{}", run.err);
    assert!(!workplace.path("b.json").exists());
    for (format, who) in [
        ("pairdp-model/1", "older than version 0.1"),
        ("pairdp-model/7", "a newer version of pairdp wrote it"),
        ("pairdp-model/x", "give a model file"),
    ] {
        let mut other = new.clone();
        other["format"] = json!(format);
        workplace.write("other.json", &other.to_string());
        for command in
            ["migrate other.json --out o.json", "verify other.json", "predict other.json cohort.csv"]
        {
            let run = workplace.run(command);
            assert!(run.code == 1 && run.err.contains(who), "{command}: {}", run.err);
        }
    }
}
