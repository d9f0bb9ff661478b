"""Who fails first: times as users have them, C as scikit-survival counts it, and certificates that both verifiers check."""

import copy
import json

import numpy as np
import pandas
import polars
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import pairdp
from pairdp import PrivateSurvivalRanker, Schema, baseline, verification
from pairdp.ledger import Ledger

PUBLIC = {"epsilon": 1.0, "delta": 1e-6, "bounds": (-1, 1), "horizon": 3.0}
ALGORITHMS = ("auto", "moments", "noisy-gd", "output-gd", "phased-gd", "noisy-sgd")


def cohort(n=1500, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 3))
    fails, leaves = rng.exponential(np.exp(-2 * X[:, 0])), rng.uniform(0, 3.5, size=n)
    return X, fails <= leaves, np.minimum(fails, leaves)


X, event, time = cohort()
FORMS = {
    "pair": (event, time),
    "scikit-survival's": np.array(list(zip(event, time, strict=True)), dtype=[("e", bool), ("t", float)]),
    "turned round": np.array(list(zip(time, event, strict=True)), dtype=[("t", "<f4"), ("e", bool)]),
}


def by_definition(event, time, scores):
    """Return C by looking at every pair."""
    right = pairs = 0.0
    for i in np.flatnonzero(event):
        later = (time > time[i]) | ((time == time[i]) & ~event)
        pairs += later.sum()
        right += (scores[later] < scores[i]).sum() + 0.5 * (scores[later] == scores[i]).sum()
    return right / pairs


# What it learns.


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_is_certified_and_both_verifiers_agree(algorithm):
    ranker = PrivateSurvivalRanker(**PUBLIC, algorithm=algorithm).fit(X, (event, time))
    assert ranker.verify() and verification.verify(ranker.model_).holds
    assert ranker.certificate_["problem"]["objective"]["ranking"]["form"] == "comparable"
    document = json.loads(ranker.model_)
    for change in (
        lambda d: d["predictor"].update(task="ranking"),
        lambda d: d["certificate"]["problem"]["objective"]["ranking"].update(form="indicator"),
        lambda d: d["certificate"]["problem"].update(labels="public"),
        lambda d: d["certificate"].update(records=4000),
    ):
        forged = copy.deepcopy(document)
        change(forged)
        text = json.dumps(forged)
        assert not verification.verify(text).holds
        try:
            taken = all(failure is None for _, _, failure in pairdp._core.Model(text).verify())
        except ValueError:
            taken = False
        assert not taken


def test_others_are_refused():
    for algorithm in ("matching-sgd", "online-pair", "localized-sgd"):
        with pytest.raises(ValueError, match=f"the task survival cannot be combined with {algorithm}"):
            PrivateSurvivalRanker(**PUBLIC, algorithm=algorithm).fit(X, (event, time))
    with pytest.raises(TypeError, match="positive_label"):
        PrivateSurvivalRanker(**PUBLIC, positive_label=1)


def test_it_finds_who_fails_first():
    ranker = PrivateSurvivalRanker(**PUBLIC | {"epsilon": 4.0}).fit(X, (event, time))
    open_model = baseline.SurvivalRanker(bounds=(-1, 1), horizon=3.0).fit(X, (event, time))
    others = cohort(seed=4)
    c = [model.score(others[0], others[1:]) for model in (ranker, open_model)]
    assert c[1] > 0.74 and c[0] > c[1] - 0.06
    # Higher means earlier.
    assert np.corrcoef(ranker.predict(X), X[:, 0])[0, 1] > 0.8


def test_half_the_noise_is_refused():
    document = json.loads(PrivateSurvivalRanker(**PUBLIC, algorithm="noisy-gd").fit(X, (event, time)).model_)
    for release in document["certificate"]["released"]["releases"]:
        # What an AUC ranker would need: a pair appears or disappears there, and does not turn round.
        for name in ("sensitivity", "sigma"):
            release[name] /= 2.0
    assert not verification.verify(json.dumps(document)).holds


def test_moments_rest_on_a_released_histogram():
    ranker = PrivateSurvivalRanker(**PUBLIC, algorithm="moments").fit(X, (event, time))
    document = json.loads(ranker.model_)
    (stage,) = document["certificate"]["stages"]
    assert stage["coordinates"] == len(document["predictor"]["representation"]["weights"]) == 17
    for change in (
        lambda d: (d["certificate"].pop("stages"), d["predictor"].pop("representation")),
        lambda d: d["certificate"]["stages"][0]["noise"].update(sigma=stage["noise"]["sigma"] / 1.1),
        lambda d: d["certificate"]["stages"][0]["noise"].update(ratio=stage["noise"]["ratio"] * 1.1),
        lambda d: d["predictor"]["representation"]["weights"].append(1.0),
        lambda d: d["predictor"]["representation"].update(reading="ranks/2"),
    ):
        forged = copy.deepcopy(document)
        change(forged)
        assert not verification.verify(json.dumps(forged)).holds
    edges, left = ranker.survival_curve()
    exact = [np.mean(1.0) if edge == 0 else _left(edge) for edge in edges]
    # The largest distance was 0.08 in the mean of 300 models, with a deviation of 0.03.
    assert edges[-1] == 3.0 and np.all(np.diff(left) <= 1e-12) and np.abs(left - exact).max() < 0.3
    with pytest.raises(AttributeError, match="releases no survival curve"):
        PrivateSurvivalRanker(**PUBLIC, algorithm="noisy-gd").fit(X, (event, time)).survival_curve()


def _left(until):
    """Return Kaplan and Meier's estimate at a time."""
    left = 1.0
    for t in np.sort(time[event & (time < until)]):
        left *= 1.0 - 1.0 / (time >= t).sum()
    return left


# C.


def test_c_is_that_of_the_definition_and_of_scikit_survival():
    oracle = pytest.importorskip("sksurv.metrics").concordance_index_censored if _has_oracle() else None
    rng = np.random.default_rng(8)
    model = baseline.SurvivalRanker(bounds=(-1, 1), horizon=10.0).fit(X, (event, time))
    for _ in range(100):
        n = int(rng.integers(5, 60))
        rows = rng.integers(-3, 4, size=(n, 3)) / 3.0
        seen, when = rng.random(n) < 0.6, rng.integers(0, 8, size=n).astype(float)
        if not any(seen[i] and ((when > when[i]) | ((when == when[i]) & ~seen)).any() for i in range(n)):
            continue
        scores = model.predict(rows)
        found = model.score(rows, (seen, when))
        assert found == pytest.approx(by_definition(seen, when, scores), abs=1e-12)
        if oracle is not None:
            apart = np.diff(np.unique(scores))
            if len(apart) == 0 or apart.min() > 1e-6:
                assert found == pytest.approx(oracle(seen, when, scores)[0], abs=1e-12)


def _has_oracle():
    try:
        import sksurv  # noqa: F401
    except ImportError:
        return False
    return True


def test_persons_count_alike():
    model = baseline.SurvivalRanker(bounds=(-1, 1), horizon=3.0).fit(X, (event, time))
    rows, seen, when = (np.repeat(part[:50], np.arange(50) % 4 + 1, axis=0) for part in (X, event, time))
    owners = np.repeat(np.arange(50), np.arange(50) % 4 + 1)
    assert model.score(rows, (seen, when), groups=owners) == pytest.approx(
        model.score(X[:50], (event[:50], time[:50])), abs=1e-6
    )


def test_nobody_known_to_fail_first_is_no_score():
    model = baseline.SurvivalRanker(bounds=(-1, 1), horizon=3.0).fit(X, (event, time))
    with pytest.raises(ValueError, match="known who failed first"):
        model.score(X, (np.zeros(len(X), dtype=bool), time))


# What y may be.


@pytest.mark.parametrize("form", FORMS)
def test_times_are_read_in_every_form(form):
    model = baseline.SurvivalRanker(bounds=(-1, 1), horizon=3.0).fit(X, FORMS[form])
    assert model.score(X, FORMS[form]) == pytest.approx(model.score(X, (event, time)), abs=1e-6)


@pytest.mark.parametrize(
    ("y", "kind", "what"),
    [
        (time, TypeError, "structured array"),
        (event, TypeError, "structured array"),
        ((time, event), TypeError, "True or False"),
        ((event.astype(int), time), TypeError, "True or False"),
        ((event, np.where(time > 1, np.nan, time)), ValueError, "NaN"),
        ((event, -time), ValueError, "at least 0"),
        ((event, event), TypeError, "times must not"),
        ((np.ma.array(event, mask=event), time), ValueError, "masked"),
        ((event, np.ma.array(time, mask=event)), ValueError, "masked"),
        ((event, np.where(time > 1, np.inf, time)), ValueError, "inf"),
        ((event[:-1], time), ValueError, "inconsistent numbers"),
        ((event, time[:-1]), ValueError, "inconsistent numbers"),
        ((event, np.array(["soon"] * len(X))), ValueError, "number"),
        (np.zeros(len(X), dtype=[("a", bool), ("b", bool)]), TypeError, "2 fields of truth values"),
        (np.zeros(len(X), dtype=[("a", float), ("b", float)]), TypeError, "0 fields of truth values"),
        (np.zeros(len(X), dtype=[("a", bool), ("b", float), ("c", float)]), TypeError, "among 3"),
        (None, TypeError, "structured array"),
    ],
)
def test_what_is_no_time_is_refused_by_name(y, kind, what):
    with pytest.raises(kind, match=what):
        PrivateSurvivalRanker(**PUBLIC).fit(X, y)


@pytest.mark.parametrize("horizon", [None, 0, -1, np.inf, np.nan, "long", True])
def test_the_horizon_is_public_and_above_zero(horizon):
    with pytest.raises(ValueError, match="horizon"):
        PrivateSurvivalRanker(**PUBLIC | {"horizon": horizon}).fit(X, (event, time))


def test_odd_tables_train():
    for seen, when in (
        (np.zeros(300, dtype=bool), time[:300]),
        (np.ones(300, dtype=bool), time[:300]),
        (event[:300], np.ones(300)),
        (event[:300], np.full(300, 1e6)),
        (event[:300], np.zeros(300)),
    ):
        for algorithm in ("auto", "noisy-gd"):
            assert PrivateSurvivalRanker(**PUBLIC, algorithm=algorithm).fit(X[:300], (seen, when)).verify()


# Schemas, files and the rest of the house.

SCHEMA = {
    "label": {"time": "days", "event": "died", "occurred": "yes", "censored": "no", "horizon": 3},
    "column": [{"name": name, "range": [-1, 1]} for name in "abc"],
}


@pytest.mark.parametrize("frame", [pandas.DataFrame, polars.DataFrame])
def test_schemas_name_both_columns(frame, tmp_path):
    features = frame({name: X[:, k] for k, name in enumerate("abc")})
    words = frame({"days": time, "died": np.where(event, "yes", "no")})
    ranker = PrivateSurvivalRanker(epsilon=1.0, delta=1e-6, schema=SCHEMA).fit(features, words)
    assert ranker.verify() and ranker.horizon_ == 3
    assert ranker.score(features, words) == ranker.score(features, (event, time))
    ranker.save(tmp_path / "model.json")
    loaded = PrivateSurvivalRanker.load(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict(features), ranker.predict(features))
    with pytest.raises(ValueError, match="neither of the two values"):
        ranker.score(features, frame({"days": time, "died": np.where(event, "yes", "perhaps")}))
    with pytest.raises(ValueError, match="horizon and schema say the same thing twice"):
        PrivateSurvivalRanker(epsilon=1.0, delta=1e-6, schema=SCHEMA, horizon=3).fit(features, words)
    with pytest.raises(ValueError, match="ranking needs `positive`"):
        pairdp.PrivateRanker(epsilon=1.0, delta=1e-6, schema=SCHEMA).fit(features, words)
    assert "days" in repr(Schema(SCHEMA))


def test_truth_values_stand_for_a_schema_s_words():
    for occurred, censored in (("true", "false"), (1, 0)):
        label = SCHEMA["label"] | {"occurred": occurred, "censored": censored}
        targets = Schema(SCHEMA | {"label": label}).targets(pandas.DataFrame({"days": time, "died": event}), len(time))
        assert np.array_equal(targets > 0, event & (time <= 3))


def test_fields_of_truth_values_mean_that_the_event_was_seen():
    inverted = Schema(SCHEMA | {"label": SCHEMA["label"] | {"event": "e", "time": "t", "occurred": 0, "censored": 1}})
    for y in (FORMS["scikit-survival's"], FORMS["turned round"], (event, time)):
        assert np.array_equal(inverted.targets(y, len(time)) > 0, event & (time <= 3))
    for words in (("True", "False"), ("yes", "no")):
        label = SCHEMA["label"] | dict(zip(("occurred", "censored"), words, strict=True))
        frame = pandas.DataFrame({"days": time, "died": event})
        assert np.array_equal(Schema(SCHEMA | {"label": label}).targets(frame, len(time)) > 0, event & (time <= 3))
    holes = pandas.DataFrame({"days": time, "died": pandas.array([*event[:-1], None], dtype="boolean")})
    with pytest.raises(ValueError, match=f"row {len(time) - 1}: neither of the two values"):
        Schema(SCHEMA).targets(holes, len(time))
    with pytest.raises(ValueError, match="no column `died`"):
        Schema(SCHEMA).targets(holes[["days"]], len(time))


def test_no_file_has_times_for_a_label_and_the_noise_of_another_task():
    ranker = pairdp.PrivateRanker(epsilon=1.0, delta=1e-6, bounds=(-1, 1), algorithm="noisy-gd").fit(X, event)
    times = {"time": "t", "event": "e", "occurred": "1", "censored": "0", "horizon": 3.0}
    forged = json.loads(ranker.model_)
    forged["predictor"]["label"] = times
    assert not verification.verify(json.dumps(forged)).holds
    survival = json.loads(PrivateSurvivalRanker(**PUBLIC).fit(X, (event, time)).model_)
    for label in ({"column": "y", "positive": "1", "negative": "0"}, times | {"horizon": 0.0}, times | {"horizon": -3}):
        forged = copy.deepcopy(survival)
        forged["predictor"]["label"] = label
        assert not verification.verify(json.dumps(forged)).holds
    forged = copy.deepcopy(survival)
    forged["certificate"]["format"] = "pairdp-certificate/2"
    assert not verification.verify(json.dumps(forged)).holds


def test_persons_ledgers_caps_and_pure_budgets(tmp_path):
    owners = np.arange(len(X)) // 3
    persons = PrivateSurvivalRanker(**PUBLIC).fit(X, (event, time), groups=owners)
    assert persons.verify() and verification.verify(persons.model_).holds
    assert persons.certificate_["claim"]["adjacency"] == "replace-one-person"
    capped = PrivateSurvivalRanker(**PUBLIC, max_records=2000).fit(X, (event, time))
    assert capped.verify() and verification.verify(capped.model_).holds
    promised = PrivateSurvivalRanker(**PUBLIC, max_records=2000, promised=True).fit(X, (event, time))
    assert promised.verify() and verification.verify(promised.model_).holds
    pure = PrivateSurvivalRanker(**PUBLIC | {"delta": 0.0}).fit(X, (event, time))
    assert pure.verify() and verification.verify(pure.model_).holds
    ranker = PrivateSurvivalRanker(**PUBLIC)
    ledger = Ledger.create(tmp_path / "clinic.ledger")
    ledger.add("stays", epsilon=2.0, delta=1e-5, records=len(X), schema=ranker.table_schema(3))
    assert ledger.fit(ranker, "stays", X, (event, time)).verify()
    with pytest.raises(ValueError, match="schema"):
        ledger.fit(PrivateSurvivalRanker(**PUBLIC | {"horizon": 2.0}), "stays", X, (event, time))


def test_it_works_in_scikit_learn_and_onnx(tmp_path):
    y = FORMS["scikit-survival's"]
    pipeline = make_pipeline(FunctionTransformer(), PrivateSurvivalRanker(**PUBLIC | {"epsilon": 3.0}))
    assert np.mean(cross_val_score(pipeline, X, y, cv=3)) > 0.6
    runtime = pytest.importorskip("onnxruntime")
    ranker = PrivateSurvivalRanker(**PUBLIC).fit(X, y)
    ranker.to_onnx(tmp_path / "model.onnx")
    session = runtime.InferenceSession(tmp_path / "model.onnx")
    scores = session.run(["score"], {"numbers": X})[0]
    np.testing.assert_allclose(np.ravel(scores), ranker.predict(X), atol=1e-9)


def test_plans_say_what_times_cost():
    found = pairdp.plan(1500, 3, epsilon=1.0, delta=1e-6, task="survival")
    assert found["plan"]["algorithm"] == "moments" and found["plan"]["representation"]["share"] > 0
    little = pairdp.plan(91, 9, epsilon=1.0, delta=1e-4, task="survival")
    assert "chance" in json.dumps(little)
