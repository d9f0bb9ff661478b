//! `pairdp report`: the page says what it should, loads nothing, and a browser shows it.

use crate::common::Workplace;
use pairdp_certificate::Algorithm;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

fn workplace() -> Workplace {
    let workplace = Workplace::with_cohort(500);
    assert_eq!(workplace.run("simulate --records 300 --seed 2 --out holdout.csv").code, 0);
    workplace
}

fn report(workplace: &Workplace, train: &str, test: &str) -> String {
    let delta = if train.contains("laplace") { "0" } else { "1e-6" };
    let run = workplace
        .run(&format!("train cohort.csv --epsilon 1 --delta {delta} {train} --out model.json --force"));
    assert_eq!(run.code, 0, "{}", run.err);
    let run = workplace.run(&format!("report model.json {test} -o report.html"));
    assert_eq!(run.code, 0, "{}", run.err);
    workplace.read("report.html")
}

/// The page judged what would have been written for the model, from which what it did not know was gone.
#[test]
fn a_page_is_about_the_file_as_it_is() {
    let workplace = workplace();
    report(&workplace, "", "");
    let mut model: Value = serde_json::from_str(&workplace.read("model.json")).unwrap();
    model["training"]["tighten"] = json!({ "share": 0.5, "columns": 3 });
    std::fs::write(workplace.path("model.json"), model.to_string()).unwrap();
    assert_eq!(workplace.run("verify model.json").code, 1);
    assert_eq!(workplace.run("report model.json -o other.html").code, 0);
    assert!(workplace.read("other.html").contains("certificate does NOT hold"));
    // And that of version 0.1, whose first release counts.
    let former = include_str!("../../../verify/tests/fixtures/ranges.json");
    std::fs::write(workplace.path("former.json"), former).unwrap();
    assert_eq!(workplace.run("verify former.json").code, 0);
    assert_eq!(workplace.run("report former.json -o former.html").code, 0);
    assert!(workplace.read("former.html").contains("certificate verified"));
}

/// Columns whose part of the score is drawn.
const SHAPES: usize = 6;

#[test]
fn every_algorithm_has_a_page_that_stands_alone() {
    let workplace = workplace();
    for (train, test, figures) in [
        ("", "", 4 + SHAPES),
        ("", "holdout.csv", 5 + SHAPES),
        ("--algorithm moments", "", 3 + SHAPES),
        ("--algorithm moments", "holdout.csv", 4 + SHAPES),
        ("--algorithm noisy-gd --steps 5", "holdout.csv", 5 + SHAPES),
        ("--algorithm output-gd --radius 3 --mechanism gaussian", "", 3 + SHAPES),
        ("--algorithm output-gd --radius 3 --mechanism laplace", "", 3 + SHAPES),
        ("--task classification", "holdout.csv", 5 + SHAPES),
        ("--task metric --steps 3 --algorithm noisy-gd", "holdout.csv", 4),
    ] {
        let page = report(&workplace, train, test);
        assert_eq!(page.contains("What each column adds"), !train.contains("metric"), "{train}");
        assert_eq!(page.matches("<svg").count(), figures, "{train}");
        stands_alone(train, &page);
    }
    for algorithm in Algorithm::ALL {
        let train = format!("--algorithm {algorithm}");
        let page = report(&workplace, &train, "");
        assert!(page.matches("<svg").count() >= 3, "{train}");
        stands_alone(&train, &page);
    }
}

fn stands_alone(train: &str, page: &str) {
    for word in ["What is promised", "at most", "Certificate", "pairdp verify model.json", "@media print"] {
        assert!(page.contains(word), "{train}: no `{word}`");
    }
    for forbidden in ["<script", "http://", "https://", "@import", "url(", "NaN", "inf "] {
        assert!(!page.contains(forbidden), "{train}: `{forbidden}`");
    }
}

/// What the guarantee keeps secret is no number on the page.
#[test]
fn issue_18_07_the_page_of_a_capped_model_names_no_number_of_records() {
    let page = report(&workplace(), "--max-records 700", "");
    for words in
        ["Records n</th><td>at most 700<", "trained on at most 700 records", "for at most 700 records"]
    {
        assert!(page.contains(words), "no `{words}` in {page}");
    }
}

/// The sentence is on the safe side of what (ε, δ) itself allows, and not beyond it.
#[test]
fn the_promise_is_at_least_the_exact_curve_and_at_most_the_claim() {
    let page = report(&workplace(), "--algorithm noisy-gd --steps 2", "");
    let said = page.split("<strong>at most ").nth(1).unwrap().split(' ').next().unwrap();
    let said: f64 = said.parse().unwrap();
    // μ = 0.2367 for (1, 1e-6): Φ(Φ⁻¹(0.01) + μ) = 1.834 %; ε alone allows e·1 % + δ.
    assert!((1.83..=2.72).contains(&said), "{said}");
    assert!(said < 2.1, "the curve's bound is looser than it should be: {said}");
}

#[test]
fn names_from_a_table_stay_text_and_a_broken_certificate_promises_nothing() {
    let workplace = Workplace::new();
    workplace.write(
        "t.schema.toml",
        "[label]\ncolumn = 'y'\npositive = 1\nnegative = 0\n\
         [[column]]\nname = '<script>alert(1)</script>'\nrange = [0, 10]\n",
    );
    workplace.write("t.csv", "<script>alert(1)</script>,y\n1,0\n2,1\n3,0\n9,1\n");
    assert_eq!(workplace.run("train t.csv --epsilon 1 --delta 1e-6").code, 0);
    assert_eq!(workplace.run("report model.json").code, 0);
    let page = workplace.read("model.html");
    assert!(!page.contains("<script") && page.contains("&lt;script&gt;"), "{page}");

    let mut model: Value = serde_json::from_str(&workplace.read("model.json")).unwrap();
    model["certificate"]["claim"]["epsilon"] = json!(0.5);
    workplace.write("model.json", &model.to_string());
    assert_eq!(workplace.run("report model.json").code, 0);
    let page = workplace.read("model.html");
    assert!(page.contains("does NOT hold") && !page.contains("at most"), "a false claim was repeated");
}

/// A browser's own answers: what it shows, and what it complains about.
struct Browser {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    complaints: Vec<String>,
    asked: u64,
}

impl Browser {
    /// The program that `PAIRDP_CHROMIUM` names, or one of the usual ones on the path.
    #[expect(clippy::disallowed_methods, reason = "where a browser is")]
    fn find() -> Option<PathBuf> {
        if let Some(path) = std::env::var_os("PAIRDP_CHROMIUM") {
            return Some(path.into());
        }
        let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
        let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
        names
            .iter()
            .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
            .find(|p| p.is_file())
    }

    /// DevTools over pipes: messages end with a zero byte. A shell puts the pipes where the browser expects them.
    fn start(program: &std::path::Path, profile: &std::path::Path) -> Self {
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "sh"])
            .arg(program)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-zygote"])
            .args(["--no-first-run", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output, complaints: Vec::new(), asked: 0 }
    }

    fn next(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.output.read_until(0, &mut bytes).unwrap();
        assert_eq!(bytes.pop(), Some(0), "the browser went away");
        let message: Value = serde_json::from_slice(&bytes).unwrap();
        if ["Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled"]
            .contains(&message["method"].as_str().unwrap_or_default())
        {
            self.complaints.push(message["params"].to_string());
        }
        message
    }

    fn ask(&mut self, session: Option<&str>, method: &str, parameters: &Value) -> Value {
        self.asked += 1;
        let mut message = json!({ "id": self.asked, "method": method, "params": parameters });
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        self.input.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let answer = self.next();
            if answer["id"] == json!(self.asked) {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
#[ignore = "needs Chromium, on the path or named by PAIRDP_CHROMIUM: run with --ignored"]
fn a_browser_shows_the_plots_without_complaint() {
    let program = Browser::find().expect("no Chromium on the path, and PAIRDP_CHROMIUM names none");
    let workplace = workplace();
    report(&workplace, "--algorithm noisy-gd --steps 5", "holdout.csv");
    let mut browser = Browser::start(&program, &workplace.path("profile"));
    let target = browser.ask(None, "Target.createTarget", &json!({ "url": "about:blank" }));
    let attach = json!({ "targetId": target["targetId"], "flatten": true });
    let session =
        browser.ask(None, "Target.attachToTarget", &attach)["sessionId"].as_str().unwrap().to_owned();
    for domain in ["Runtime.enable", "Log.enable", "Page.enable"] {
        browser.ask(Some(&session), domain, &json!({}));
    }
    let url = format!("file://{}", workplace.path("report.html").display());
    browser.ask(Some(&session), "Page.navigate", &json!({ "url": url }));
    while browser.next()["method"] != "Page.loadEventFired" {}
    let look = "JSON.stringify([...document.querySelectorAll('svg')].map(svg => { \
                const box = svg.getBoundingClientRect(); \
                const line = svg.querySelector('.line, .bar'); \
                return [box.width, box.height, line ? line.getBoundingClientRect().width : 0]; }))";
    let seen = browser.ask(Some(&session), "Runtime.evaluate", &json!({ "expression": look }));
    let plots: Vec<[f64; 3]> = serde_json::from_str(seen["result"]["value"].as_str().unwrap()).unwrap();
    assert_eq!(plots.len(), 5);
    for [width, height, line] in plots {
        assert!(width > 300.0 && height > 50.0 && line > 1.0, "{width} × {height}, {line}");
    }
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

/// A model whose path takes days to follow is refused, by `report` as by `verify`, and not followed.
#[test]
fn issue_22_7_no_page_is_waited_for_longer_than_was_said() {
    let workplace = Workplace::with_cohort(200);
    let train = "train cohort.csv --algorithm matching-sgd --radius 3 --epsilon 1 --delta 1e-6 --steps 2000 --out m.json";
    let run = workplace.run(train);
    assert_eq!(run.code, 0, "{}", run.err);
    let refused = workplace.run("report m.json --out r.html --patience 1e-9");
    assert_eq!(
        (refused.code, refused.err.as_str()),
        (
            1,
            "error: m.json: verifying this model takes longer than 0.000000001 s\nhint: say how long you would wait with --patience\n"
        )
    );
    assert!(!workplace.path("r.html").exists());
    assert_eq!(workplace.run("report m.json --out r.html").code, 0);
    // Numbers that would keep anybody busy are answered at once, whatever they are.
    let model = workplace.read("m.json");
    for (from, to) in [("\"records\": 200", "\"records\": 0"), ("\"steps\": 2000", "\"steps\": 4294967295")] {
        assert!(model.contains(from), "{model}");
        workplace.write("bad.json", &model.replace(from, to));
        let start = std::time::Instant::now();
        for command in ["verify bad.json", "report bad.json --out bad.html"] {
            let run = workplace.run(command);
            assert!(run.code == 0 || run.code == 1, "{command}: {}", run.err);
            assert!(!run.out.contains("yes: "), "{}", run.out);
        }
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }
}
