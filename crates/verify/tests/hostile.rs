//! Files that were made to keep a verifier busy, or to make it panic: each is answered, and soon.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod trained;

use pairdp_certificate::{Algorithm, ModelDocument, Released};
use pairdp_noise::{Replay, Source};
use pairdp_verify::{Patience, Verdict, verify_document, verify_with};
use serde_json::Value;
use trained::{every_algorithm, uniform};

/// What a number is replaced by.
fn nasty(value: &Value, random: &mut Replay) -> Value {
    let whole =
        [0, 1, 2, 3, 7, 64, 1000, 1 << 20, 1 << 26, 1 << 31, u64::from(u32::MAX), 1 << 40, 1 << 53, u64::MAX];
    let broken = [0.0, -1.0, 1e-300, 1e-30, 1e-6, 0.5, 1.0, 1e3, 1e15, 1e30, 1e100, 1e300, -1e300, f64::MAX];
    let pick = |length: usize, random: &mut Replay| usize::try_from(random.next_word()).unwrap() % length;
    match value.as_u64() {
        Some(_) if !random.next_word().is_multiple_of(4) => Value::from(whole[pick(whole.len(), random)]),
        Some(number) => Value::from(number.wrapping_add(random.next_word() % 5).wrapping_sub(2)),
        None if random.next_word().is_multiple_of(2) => Value::from(broken[pick(broken.len(), random)]),
        None => {
            let factor = [1e-12, 1e-3, 0.3, 3.0, 1e4, 1e12][pick(6, random)] * (1.0 + 0.1 * uniform(random));
            Value::from(value.as_f64().unwrap_or(1.0) * factor)
        }
    }
}

/// Seconds that this thread has computed, which do not depend on what else the machine has to do.
fn busy() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// The places of all numbers.
fn numbers(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Number(_) => found.push(path.to_owned()),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, item)| numbers(item, &format!("{path}/{i}"), found));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| numbers(field, &format!("{path}/{name}"), found));
        }
        _ => {}
    }
}

/// Numbers of real files, one to four at a time; some at the same value in several places, as a careful liar would have it.
#[test]
fn changed_numbers_are_answered_within_a_second() {
    let mut random = Replay::from_seed(19);
    let patience = Patience::of_seconds(0.3);
    let (mut answered, mut held) = (0, 0);
    for (name, document) in every_algorithm() {
        let text = document.to_json().unwrap();
        let original: Value = serde_json::from_str(&text).unwrap();
        let mut places = Vec::new();
        numbers(&original, "", &mut places);
        for _ in 0..250 {
            let mut changed = original.clone();
            for _ in 0..=random.next_word() % 4 {
                let at = &places[usize::try_from(random.next_word()).unwrap() % places.len()];
                let old = changed.pointer(at).unwrap().clone();
                let new = nasty(&old, &mut random);
                let everywhere = random.next_word().is_multiple_of(2);
                for place in &places {
                    let value = changed.pointer_mut(place).unwrap();
                    if place == at || (everywhere && *value == old && old.as_u64().is_some()) {
                        *value = new.clone();
                    }
                }
            }
            let changed = changed.to_string();
            let Ok(document) = ModelDocument::from_json(&changed) else { continue };
            let start = busy();
            let verdict = verify_with(&document, patience);
            let took = busy() - start;
            // The contour engine takes a second or two for some honest numbers, too.
            let sampled = matches!(document.certificate.released, Released::SampledGradients { .. });
            assert!(took < if sampled { 5.0 } else { 1.0 }, "{name}: {took} s: {changed}");
            answered += 1;
            held += usize::from(verdict.holds());
        }
    }
    assert!(answered > 3000, "{answered}");
    // A seed or a step size may be another one; little else.
    assert!(held * 10 < answered, "{held} of {answered}");
}

fn certificate_of(kind: Algorithm) -> ModelDocument {
    let name = format!("{} of Ranking", kind.name());
    every_algorithm().into_iter().find(|(found, _)| found.starts_with(&name)).unwrap().1
}

fn failures(verdict: &Verdict) -> Vec<(&'static str, String)> {
    verdict.failures().map(|check| (check.name, check.failure.clone().unwrap())).collect()
}

/// Each of these kept version 0.1 busy for ever, or ended it with a division by 0.
#[test]
fn no_records_and_endless_paths_are_answered_at_once() {
    for kind in Algorithm::ALL.into_iter().filter(|kind| kind.perturbs_output()) {
        for (records, steps) in
            [(0, None), (1, None), (usize::MAX, None), (40, Some(u32::MAX)), (usize::MAX, Some(u32::MAX))]
        {
            let mut document = certificate_of(kind);
            document.certificate.records = records;
            let Released::Output { phases, .. } = &mut document.certificate.released else {
                panic!("{kind:?}")
            };
            phases[0].records = records;
            if let Some(steps) = steps {
                phases[0].steps = steps;
                document.training.steps = steps;
            }
            let start = busy();
            assert!(!verify_document(&document).holds(), "{kind:?} {records} {steps:?}");
            assert!(busy() - start < 1.0, "{kind:?} {records} {steps:?}");
        }
    }
}

#[test]
fn what_takes_too_long_is_refused_by_the_name_of_work() {
    for kind in [Algorithm::OutputGd, Algorithm::OutputSgd, Algorithm::MatchingSgd] {
        let mut document = certificate_of(kind);
        let Released::Output { phases, .. } = &mut document.certificate.released else { panic!("{kind:?}") };
        phases[0].steps = u32::MAX;
        let found = failures(&verify_document(&document));
        let work = found.iter().find(|(name, _)| *name == "work").unwrap();
        assert!(work.1.starts_with("the path is too long to recompute: it would take about "), "{work:?}");
        assert!(
            found.iter().any(|(name, why)| *name == "sensitivity" && why == "not recomputed"),
            "{found:?}"
        );
    }
    // Impatience is no verdict; with patience the same certificate holds.
    let document = certificate_of(Algorithm::MatchingSgd);
    let hurried = verify_with(&document, Patience::of_seconds(0.0));
    assert!(!hurried.holds() && hurried.is_unfinished(), "{:?}", failures(&hurried));
    assert!(verify_document(&document).holds());
}
