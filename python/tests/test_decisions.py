"""Probabilities, flags, private evaluation, and what scikit-learn makes of them."""

from __future__ import annotations

import io
import json
import warnings
from contextlib import redirect_stdout

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import RocCurveDisplay, brier_score_loss, roc_auc_score
from sklearn.model_selection import cross_val_predict

import pairdp
from pairdp import PrivateClassifier, PrivateRanker, baseline, evaluate, verification
from pairdp.exceptions import PrivacyScoreWarning
from pairdp.ledger import Ledger

pd = pytest.importorskip("pandas")


def table(rows, seed, rate=0.3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(rows, 3))
    p = 1 / (1 + np.exp(-(np.log(rate / (1 - rate)) + 3 * X[:, 0])))
    return X, (rng.uniform(size=rows) < p).astype(int), p


X, Y, _ = table(8000, 1)
TEST, LABELS, TRUTH = table(20000, 2)


@pytest.fixture(scope="module")
def classifier():
    return PrivateClassifier(epsilon=1.0, delta=1e-6, bounds=(-1, 1), classes=(0, 1)).fit(X, Y)


@pytest.fixture(scope="module")
def ranker():
    return PrivateRanker(epsilon=1.0, delta=1e-6, bounds=(-1, 1), probabilities=True).fit(X, Y)


def test_classifiers_and_rankers_have_probabilities_that_both_verifiers_take(classifier, ranker):
    best = brier_score_loss(LABELS, TRUTH)
    for model in (classifier, ranker):
        proba = model.predict_proba(TEST)
        assert proba.shape == (len(TEST), 2)
        assert np.allclose(proba.sum(axis=1), 1.0)
        # Far beyond what noise did in any run seen: 0.003 to 0.01.
        assert brier_score_loss(LABELS, proba[:, 1]) < best + 0.03
        assert model.verify()
        assert verification.verify(model.model_).holds
        stages = json.loads(model.model_)["certificate"]["stages"]
        assert stages[-1]["kind"] == "probabilities"


def test_the_second_verifier_takes_no_other_counts(ranker):
    document = json.loads(ranker.model_)

    def refused(change):
        changed = json.loads(ranker.model_)
        change(changed)
        assert not verification.verify(changed).holds

    assert verification.verify(document).holds
    refused(lambda d: d["certificate"]["stages"][-1]["noise"].update(sigma=1.0))
    refused(lambda d: d["certificate"]["stages"][-1]["noise"].update(sensitivity=1.0))
    refused(lambda d: d["certificate"]["stages"][-1].update(cells=8))
    refused(lambda d: d["certificate"]["stages"].pop())
    refused(lambda d: d["certificate"]["stages"].append(d["certificate"]["stages"][-1]))
    refused(lambda d: d["training"].pop("probabilities"))
    refused(lambda d: d["training"]["probabilities"].update(share=0.2))
    refused(lambda d: d["predictor"]["probabilities"].update(noise=1.0))
    refused(lambda d: d["predictor"]["probabilities"].update(counted=9000.0))
    refused(lambda d: d["predictor"]["probabilities"].update(reading="log-odds/2"))
    refused(lambda d: d["predictor"].pop("probabilities"))


def test_classes_are_where_the_probability_is_above_a_half(classifier):
    proba = classifier.predict_proba(TEST)[:, 1]
    assert np.array_equal(classifier.predict(TEST) == 1, proba > 0.5)
    assert np.array_equal(classifier.decision_function(TEST) > 0, proba > 0.5)
    scores = classifier.encode(TEST) @ classifier.coef_ + classifier.intercept_
    assert np.allclose(scores, classifier.decision_function(TEST))


def test_flags_keep_public_targets(classifier):
    assert abs(classifier.flag(TEST, flag_share=0.2).mean() - 0.2) < 0.06
    assert abs(classifier.flag(TEST, sensitivity=0.8)[LABELS == 1].mean() - 0.8) < 0.12
    assert classifier.threshold(cost_ratio=4) == pytest.approx(0.2)
    flagged = classifier.flag(TEST, cost_ratio=4)
    assert np.array_equal(flagged, classifier.predict_proba(TEST)[:, 1] >= 0.2 - 1e-12)
    with pytest.raises(ValueError, match="say one of"):
        classifier.flag(TEST, flag_share=0.1, sensitivity=0.5)
    with pytest.raises(ValueError, match="between 0 and 1"):
        classifier.flag(TEST, flag_share=2.0)


def test_without_counts_there_is_a_way_out():
    model = PrivateRanker(epsilon=1.0, delta=1e-6, bounds=(-1, 1)).fit(X, Y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as caught:
        model.predict_proba(TEST)
    assert "probabilities=True" in str(caught.value.__cause__)
    before = model.certificate_
    model.calibrate(TEST[:4000], LABELS[:4000])
    assert model.certificate_ == before
    assert model.verify()
    assert verification.verify(model.model_).holds
    assert brier_score_loss(LABELS, model.predict_proba(TEST)[:, 1]) < brier_score_loss(LABELS, TRUTH) + 0.03
    open_model = baseline.Classifier(bounds=(-1, 1)).fit(X, Y).calibrate(X, Y)
    assert brier_score_loss(LABELS, open_model.predict_proba(TEST)[:, 1]) < brier_score_loss(LABELS, TRUTH) + 0.01


def test_files_keep_probabilities(classifier, tmp_path):
    classifier.save(tmp_path / "model.json")
    loaded = PrivateClassifier.load(tmp_path / "model.json")
    assert np.array_equal(loaded.predict_proba(TEST), classifier.predict_proba(TEST))


def test_onnx_has_probabilities(classifier, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    classifier.to_onnx(tmp_path / "model.onnx")
    session = runtime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    (probability, classes) = session.run(["probability", "class"], {"numbers": TEST})
    assert np.allclose(probability, classifier.predict_proba(TEST)[:, 1], atol=1e-12)
    assert np.array_equal(classes == "1", classifier.predict(TEST) == 1)


def test_scikit_learns_own_tools_run_on_public_tables(classifier, ranker):
    # On private tables what these store or draw is exact, and nothing covers it: docs/decisions.md.
    calibrated = CalibratedClassifierCV(
        PrivateClassifier(epsilon=1.0, delta=1e-6, bounds=(-1, 1), classes=(0, 1)), cv=2
    ).fit(X, Y)
    assert roc_auc_score(LABELS, calibrated.predict_proba(TEST)[:, 1]) > 0.7
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    display = RocCurveDisplay.from_estimator(classifier, TEST, LABELS)
    assert display.roc_auc > 0.7
    folds = cross_val_predict(
        PrivateClassifier(epsilon=1.0, delta=1e-6, bounds=(-1, 1), classes=(0, 1), probabilities=True),
        X,
        Y,
        cv=2,
        method="predict_proba",
    )
    assert folds.shape == (len(X), 2)
    assert roc_auc_score(Y, folds[:, 1]) > 0.7
    assert roc_auc_score(LABELS, ranker.predict_proba(TEST)[:, 1]) > 0.7


def test_evaluate_measures_with_noise_and_intervals(classifier):
    exact = roc_auc_score(LABELS, classifier.decision_function(TEST))
    found = evaluate(classifier, TEST, LABELS, epsilon=2.0, curves=True)
    # Intervals are 98.7 % here; three times their length is missed once in 10¹⁰ runs.
    slack = found.auc.high - found.auc.low
    assert found.auc.low - slack < exact < found.auc.high + slack
    assert 0 < slack < 0.05
    assert isinstance(found.thresholds, pd.DataFrame)
    assert len(found.thresholds) == 15
    assert len(found.calibration) == 16
    assert (
        found.thresholds["sensitivity"].is_monotonic_decreasing or found.thresholds["sensitivity"].diff().max() < 0.05
    )
    row = found.thresholds.iloc[8]
    flagged = classifier._scores(TEST) >= row["score"]
    assert row["flagged_low"] - 0.02 < flagged.mean() < row["flagged_high"] + 0.02
    assert "auc" not in repr(found.histogram)
    plain = evaluate(classifier, TEST, LABELS, epsilon=0.5, delta=1e-6)
    assert plain.thresholds is None
    assert plain.accuracy is not None
    with pytest.raises(ValueError, match=r"epsilon|ε"):
        evaluate(classifier, TEST, LABELS, epsilon=0.0)
    with pytest.raises(ValueError, match="there is no private measure"):
        evaluate(baseline.Regressor(bounds=(-1, 1)).fit(X, Y), TEST, LABELS, epsilon=1.0)


def test_evaluate_protects_persons_and_secret_sizes():
    groups = np.repeat(np.arange(2000), 4)
    of_persons = PrivateRanker(epsilon=2.0, delta=1e-6, bounds=(-1, 1)).fit(X, Y, groups=groups)
    with pytest.raises(ValueError, match="pass groups"):
        evaluate(of_persons, X, Y, epsilon=1.0)
    assert evaluate(of_persons, X, Y, epsilon=1.0, groups=groups, curves=True).histogram["records"] == 2000
    secret = PrivateRanker(epsilon=1.0, delta=1e-6, bounds=(-1, 1), max_records=9000).fit(X, Y)
    with pytest.raises(ValueError, match="public_size"):
        evaluate(secret, TEST, LABELS, epsilon=1.0)
    assert evaluate(secret, TEST, LABELS, epsilon=1.0, public_size=True).auc is not None


def test_a_ledger_pays_for_evaluations(tmp_path):
    ledger = Ledger.create(tmp_path / "clinic.ledger")
    model = PrivateRanker(epsilon=0.5, delta=1e-6, bounds=(-1, 1))
    ledger.add("stays", epsilon=1.2, delta=1e-5, records=len(X), schema=model.table_schema(3))
    ledger.fit(model, "stays", X, Y)
    ledger.evaluate(model, "stays", X, Y, epsilon=0.5, curves=True)
    assert ledger.show()["stays"]["committed"] == 2
    with pytest.raises(pairdp.PrivacyBudgetError):
        ledger.evaluate(model, "stays", X, Y, epsilon=0.5)


def test_score_on_the_table_of_fit_warns_and_nothing_is_kept_of_it(ranker):
    own = X.copy()
    model = PrivateRanker(epsilon=1.0, delta=1e-6, bounds=(-1, 1)).fit(own, Y)
    with pytest.warns(PrivacyScoreWarning, match="guarantee does not cover it"):
        model.score(own, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Another table, and a copy of the model that was never fitted in this process.
        model.score(TEST, LABELS)
        PrivateRanker(epsilon=1.0, delta=1e-6, bounds=(-1, 1)).fit(own.tolist(), Y).score(own, Y)
    import gc
    import pickle
    import weakref

    watched = weakref.ref(own)
    text = io.StringIO()
    with redirect_stdout(text):
        print(pickle.loads(pickle.dumps(model)))
    del own
    gc.collect()
    assert watched() is None
