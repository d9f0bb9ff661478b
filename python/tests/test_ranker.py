"""PrivateRanker: the contract with its users."""

import json

import numpy as np
import pytest

from pairdp import PrivacyBudgetError, PrivateRanker


@pytest.fixture(scope="module")
def cohort():
    rng = np.random.default_rng(7)
    X = rng.uniform(-1, 1, size=(1500, 4))
    y = (X @ [1.0, -0.5, 0.0, 0.2] + 0.3 * rng.normal(size=1500) > 0.5).astype(int)
    return X, y


def ranker(**changes):
    return PrivateRanker(**{"epsilon": 2.0, "delta": 1e-6, "bounds": (-1, 1)} | changes)


def test_a_fitted_ranker_ranks_and_verifies(cohort):
    X, y = cohort
    fitted = ranker().fit(X, y)
    assert fitted.verify()
    assert fitted.score(X, y) > 0.85
    assert fitted.certificate_["claim"] == {"epsilon": 2.0, "delta": 1e-6, "adjacency": "replace-one"}
    assert fitted.certificate_["records"] == len(X)
    assert fitted.decision_function(X).shape == (len(X),)


@pytest.mark.parametrize("algorithm", ["noisy-gd", "output-gd", "noisy-sgd"])
@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared"])
def test_every_algorithm_is_certified(cohort, algorithm, loss):
    X, y = cohort
    fitted = ranker(algorithm=algorithm, loss=loss, ridge=0.01, radius=3.0).fit(X, y)
    assert fitted.verify()
    assert fitted.certificate_["algorithm"] == algorithm


def test_noise_never_repeats(cohort):
    X, y = cohort
    np.random.seed(0)
    first = ranker(steps=3).fit(X, y)
    np.random.seed(0)
    second = ranker(steps=3).fit(X, y)
    assert not np.any(first.coef_ == second.coef_)


def test_no_budget_no_fit(cohort):
    for missing in ("epsilon", "delta"):
        with pytest.raises(PrivacyBudgetError, match="set epsilon and delta"):
            ranker(**{missing: None}).fit(*cohort)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": 0.0}, "ε must be"),
        ({"epsilon": float("nan")}, "ε must be"),
        ({"delta": 1.0}, "δ must be"),
        ({"delta": 0.0, "mechanism": "gaussian"}, "pure"),
        ({"bounds": None}, "no public bounds"),
        ({"bounds": (1, -1)}, "smaller first"),
        ({"feature_bound": 0.0}, "feature bound"),
        ({"steps": 0}, "at least 1"),
        ({"step_size": -1.0}, "step size"),
        ({"algorithm": "sorcery"}, "algorithm must be"),
        ({"loss": "grief"}, "loss must be"),
        ({"loss": "q-hinge", "q": 2.5}, "exponent q"),
        ({"ridge": -1.0}, "ridge"),
    ],
)
def test_bad_parameters_are_refused(cohort, changes, message):
    with pytest.raises(ValueError, match=message):
        ranker(**changes).fit(*cohort)


def test_score_is_the_usual_auc(cohort):
    from sklearn.metrics import roc_auc_score

    X, y = cohort
    fitted = ranker().fit(X, y)
    assert fitted.score(X, y) == pytest.approx(roc_auc_score(y, fitted.decision_function(X)), abs=1e-12)


def test_a_changed_certificate_is_caught(cohort, tmp_path):
    fitted = ranker().fit(*cohort)
    document = json.loads(fitted.model_)
    document["certificate"]["records"] *= 2
    (tmp_path / "changed.json").write_text(json.dumps(document))
    assert fitted.verify()
    assert not PrivateRanker.load(tmp_path / "changed.json").verify()


def test_text_labels_need_a_text_label(cohort):
    X, y = cohort
    words = np.where(y == 1, "yes", "no")
    with pytest.raises(ValueError, match="set positive_label"):
        ranker().fit(X, words)
    assert ranker(positive_label="yes").fit(X, words).score(X, words) > 0.85


@pytest.mark.parametrize(
    ("positive", "negative"),
    [(1, 0), (1, -1), (2.5, 0.5), ("yes", "no"), (True, False), (False, True), ("true", "false")],
)
def test_issue_18_17_a_saved_ranker_knows_its_positive_label(cohort, tmp_path, positive, negative):
    X, y = cohort
    labels = np.where(y == 1, positive, negative)
    fitted = ranker(positive_label=positive).fit(X, labels)
    fitted.save(tmp_path / "model.json")
    loaded = PrivateRanker.load(tmp_path / "model.json")
    assert loaded.positive_label == positive
    assert loaded.verify() and loaded.score(X, labels) == fitted.score(X, labels) > 0.8


def test_one_class_only_trains(cohort):
    X, y = cohort
    assert ranker().fit(X, np.zeros_like(y)).verify()
