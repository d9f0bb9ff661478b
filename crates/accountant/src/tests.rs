use crate::*;
use pairdp_units::{Budget, Delta};

#[test]
fn try_calibration() {
    let text = std::fs::read_to_string("/work/shared/reference/accounting_reference.json").unwrap();
    let v: serde_json::Value = serde_json::from_str(&text).unwrap();
    for c in v["composed"]
        .as_array().unwrap() { let f = |k: &str| c[k].as_f64().unwrap_or(f64::NAN); let (q,d,t,delta)=(f("q"), f("d"), c["T"].as_u64().unwrap(), f("delta"));
 if c["mechanism"]!="fixed_size_wor_replace_one" {continue}
 let s=std::time::Instant::now(); let got=crate::composition::certificate(&[crate::moments::Term{pair: crate::pair::Pair::Symmetric{rate:q,shift:d},count:t}],delta); println!("want {} {:?} rel {:.2e} {:.1} ms", f("eps_upper"), got, got.clone().unwrap_or(f64::NAN)/f("eps_upper")-1.0, s.elapsed().as_secs_f64()*1e3);}
 for c in v["calibration"].as_array().unwrap() {
        let f = |k: &str| c[k].as_f64().unwrap_or(f64::NAN);
        let (times, eps, delta) = (c["T"].as_u64().unwrap(), f("eps"), f("delta"));
        let (sampling, adjacency, unit) = match c["mechanism"].as_str().unwrap() {
            "fixed_size_wor_replace_one" => (Sampling::FixedSize { batch: c["m"].as_u64().unwrap(), records: c["n"].as_u64().unwrap() }, AdjacencyKind::ReplaceOne, 0.5),
            "poisson_add_remove" => (Sampling::PoissonRecords { rate: f("q") }, AdjacencyKind::AddRemoveOne, 1.0),
            "poisson_replace_one" => (Sampling::PoissonRecords { rate: f("q") }, AdjacencyKind::ReplaceOne, 1.0),
            _ => (Sampling::PoissonPairs { records: c["n"].as_u64().unwrap(), expected_pairs: f("expected_pairs") }, AdjacencyKind::ReplaceOne, 1.0),
        };
        let event = Event::new(adjacency, Release::Gaussian { noise_multiplier: 1.0, sampling, times }).unwrap();
        let start = std::time::Instant::now();
        let got = calibrate::noise_multiplier(&event, Budget::new(eps, delta).unwrap());
        println!("{:?} T {times} eps {eps} want {} got {:?} rel {:.2e} {:.1} ms", sampling, f("sigma_over_G") * unit, got, got.clone().unwrap_or(f64::NAN) / (f("sigma_over_G") * unit) - 1.0, start.elapsed().as_secs_f64() * 1e3);
    }
    for (n, t) in [(5000_u64, 5000_u64), (1_000_000, 1_000_000), (10_000, 100_000_000)] {
        let event = Event::gaussian_steps(n, Some(2), t, 1.0).unwrap();
        let delta = 1.0 / (n as f64 * n as f64);
        let start = std::time::Instant::now();
        let got = calibrate::noise_multiplier(&event, Budget::new(1.0, delta).unwrap());
        println!("n {n} T {t} {:?} {:.1} ms", got, start.elapsed().as_secs_f64() * 1e3);
        let start = std::time::Instant::now();
        println!("{:?} {:.1} ms", account(&event.scaled(got.unwrap()).unwrap(), Delta::new(delta).unwrap()), start.elapsed().as_secs_f64() * 1e3);
    }
}

#[test]
fn try_two() {
    let event = Event::gaussian_steps(1_000_000, Some(2), 1_000_000, 1.0).unwrap();
    eprintln!("{:?}", calibrate::noise_multiplier(&event, Budget::new(1.0, 1e-12).unwrap()));
    for f in [0.5, 0.9, 1.2] {
    let terms = [crate::moments::Term { pair: crate::pair::Pair::Add { rate: 0.1, shift: 1.0/f }, count: 100 }];
    eprintln!("{:?} {:?} {:?}", crate::composition::log_delta(&terms, 8.0, 1e-6, 5e-3), crate::composition::certificate(&terms, 1e-6), crate::rdp::epsilon(&terms, 1e-6));
    }
}
