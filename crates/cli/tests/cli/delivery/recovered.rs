//! Which files `budget recover` takes for models that were paid for, and where it puts them.

use super::{
    Held, Running, SPENDING, agree, balance, kept, killed_after_commit, killed_before_commit, runs, train,
    wait_for, workplace,
};
use serde_json::Value;

/// Anybody can write a file with a run's name; as long as the run is open, the ledger has no digest of its model.
#[test]
fn issue_22_1_a_kept_model_of_an_open_run_is_the_runs_or_stays_where_it_is() {
    let workplace = workplace();
    killed_before_commit(&workplace, "--checkpoint run.checkpoint");
    let [name] = &kept(&workplace)[..] else { panic!("{:?}", workplace.files()) };
    let model: Value = serde_json::from_str(&workplace.read(name)).unwrap();
    let checkpoint: Value = serde_json::from_str(&workplace.read("run.checkpoint")).unwrap();
    let other = workplace.run(
        &train("cohort.csv", "")
            .replace(SPENDING, "")
            .replace("--epsilon 0.5", "--epsilon 0.4")
            .replace("model.json", "other.json"),
    );
    assert_eq!(other.code, 0, "{}", other.err);
    let mut claims_more = model.clone();
    claims_more["certificate"]["claim"]["epsilon"] = 0.25.into();
    let mut of_other_releases: Value = serde_json::from_str(&workplace.read("other.json")).unwrap();
    of_other_releases["run"] = model["run"].clone();
    for (forged, why) in [
        (claims_more, "does not prove what it claims"),
        (of_other_releases, "reserved other releases than those of this model"),
    ] {
        workplace.write(name, &forged.to_string());
        let said = workplace.run("budget recover --ledger c.ledger");
        assert!(said.code == 1 && said.out.contains(why), "{why}: {}{}", said.out, said.err);
        assert!(workplace.path(name).exists() && !workplace.path("model.json").exists());
        assert_eq!(runs(&workplace), [1, 0, 0]);
        // The same in the checkpoint that a run ended with.
        std::fs::remove_file(workplace.path(name)).unwrap();
        let mut finished = checkpoint.clone();
        finished["model"] = forged.to_string().into();
        workplace.write("run.checkpoint", &finished.to_string());
        let run = workplace.run(&train("absent.csv", "--checkpoint run.checkpoint"));
        assert!(run.code == 1 && run.err.contains(why), "{why}: {}{}", run.out, run.err);
        assert_eq!((runs(&workplace), kept(&workplace)), ([1, 0, 0], vec![]));
        assert!(!workplace.path("model.json").exists());
    }
    workplace.write("run.checkpoint", &checkpoint.to_string());
    let run = workplace.run(&train("absent.csv", "--checkpoint run.checkpoint"));
    assert_eq!(run.code, 0, "{}", run.err);
    agree(&workplace, "model.json");
}

/// Until it is in its place a model has a longer name, which says where it belongs.
#[test]
fn issue_22_1_a_model_is_recovered_to_the_very_place_that_was_named() {
    let workplace = workplace();
    let long = "m".repeat(201);
    let run = workplace.run(&train("cohort.csv", "").replace("model.json", &long));
    assert!(run.code == 1 && run.err.contains("has at most 200 bytes"), "{}{}", run.out, run.err);
    assert_eq!(runs(&workplace), [0, 0, 0]);
    // A link to a file of another name, and a name that would look like two lines.
    #[cfg(unix)]
    {
        std::fs::create_dir(workplace.path("far")).unwrap();
        workplace.write("far/there.json", "");
        std::os::unix::fs::symlink("far/there.json", workplace.path("model.json")).unwrap();
        let mut held = None;
        let running = Running::start(&workplace, "--force");
        let running = running.feed(&workplace, || held = Some(Held::ledger(&workplace)));
        let waits = || {
            let mut names =
                std::fs::read_dir(workplace.path("far")).unwrap().map(|entry| entry.unwrap().path());
            names.find(|path| path.to_string_lossy().contains(".pairdp-model-"))
        };
        wait_for(|| waits().is_some());
        running.kill();
        drop(held);
        let kept = waits().unwrap();
        assert!(kept.to_string_lossy().ends_with("-there.json"), "{kept:?}");
        let run = workplace.run(&train("cohort.csv", ""));
        assert!(run.code == 1 && run.err.contains("is waiting to be put here"), "{}{}", run.out, run.err);
        let spoiled = kept.to_string_lossy().replace("there.json", "there\nrun 0: its model is now mine");
        std::fs::rename(kept, spoiled).unwrap();
        let said = workplace.run("budget recover far --ledger c.ledger");
        assert!(said.out.contains("far/there\\nrun 0: its model is now mine"), "{}", said.out);
        assert_eq!((said.code, runs(&workplace)), (0, [0, 1, 0]));
    }
}

#[test]
fn issue_22_1_a_run_that_is_done_goes_on_no_more() {
    let workplace = workplace();
    let options = "--checkpoint run.checkpoint --checkpoint-every 0 --algorithm noisy-gd --steps 300";
    let running = Running::start(&workplace, options).feed(&workplace, || ());
    wait_for(|| workplace.path("run.checkpoint").exists());
    running.kill();
    let halfway = workplace.read("run.checkpoint");
    assert!(halfway.contains("\"made\""));
    let run = workplace.run(&train("cohort.csv", options));
    assert!(run.code == 0 && run.out.contains("continued an interrupted run"), "{}{}", run.out, run.err);
    agree(&workplace, "model.json");
    let spent = balance(&workplace)["spent_epsilon"].clone();
    // Somebody kept a copy of the checkpoint.
    workplace.write("run.checkpoint", &halfway);
    let run = workplace.run(&format!("{} --force", train("cohort.csv", options)));
    assert!(run.code == 1 && run.err.contains("is done and cannot go on"), "{}{}", run.out, run.err);
    assert_eq!(balance(&workplace)["spent_epsilon"], spent);
}

#[test]
fn issue_22_1_recover_takes_no_files_that_the_ledger_did_not_pay_for() {
    let workplace = workplace();
    killed_after_commit(&workplace, "");
    let [name] = &kept(&workplace)[..] else { panic!("{:?}", workplace.files()) };
    let model = workplace.read(name);
    let run = name.strip_prefix(".pairdp-model-").unwrap().split('-').next().unwrap().to_owned();
    for (name, text, why) in [
        (name.clone(), model.replacen("\"format\"", " \"format\"", 1), "not the file that its run made"),
        (name.replace(&run, "0000"), model.clone(), "not the model of the run in its name"),
        (
            name.replace(&run, &"0".repeat(32)),
            model.replace(&run, &"0".repeat(32)),
            "the ledger does not know its run",
        ),
        (name.clone(), "{}".to_owned(), "it is not a model"),
    ] {
        kept(&workplace).iter().for_each(|name| std::fs::remove_file(workplace.path(name)).unwrap());
        workplace.write(&name, &text);
        let said = workplace.run("budget recover --ledger c.ledger");
        assert!(said.code == 1 && said.out.contains(why), "{why}: {}{}", said.out, said.err);
        assert!(
            said.out.contains("its model was not found; look for a file with the SHA-256 "),
            "{}",
            said.out
        );
        assert!(!workplace.path("model.json").exists() && workplace.path(&name).exists());
    }
    // One that somebody moved is seen; one that is in the way is not replaced.
    std::fs::remove_file(workplace.path(name)).unwrap();
    workplace.write("moved.json", &model);
    let said = workplace.run("budget recover --ledger c.ledger");
    assert!(said.code == 0 && said.out.contains("the model of every run"), "{}{}", said.out, said.err);
    assert_eq!(runs(&workplace), [0, 1, 0]);
    workplace.write(name, &model);
    workplace.write("model.json", "mine");
    let said = workplace.run("budget recover --ledger c.ledger");
    assert!(said.code == 1 && said.out.contains("there is a file already"), "{}{}", said.out, said.err);
    assert_eq!((workplace.read("model.json"), workplace.read(name)), ("mine".to_owned(), model));
}
