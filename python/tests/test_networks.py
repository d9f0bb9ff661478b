"""Scores of one hidden layer: trained, verified twice, exported, and refused where a network has nothing to say."""

import json
from pathlib import Path

import numpy as np
import pytest

from pairdp import PrivateClassifier, PrivateRanker, PrivateRegressor, PrivateSurvivalRanker, verification
from test_readme import ROOT, run

RANDOM = np.random.default_rng(5)
X = RANDOM.uniform(-1.0, 1.0, (900, 3))
Y = X[:, 0] * X[:, 1] > 0.0
COMMON = {"epsilon": 2.0, "delta": 1e-6, "bounds": (-1.0, 1.0), "scores": "network", "hidden": 7}


def estimators():
    return [
        (PrivateRanker(**COMMON, positive_label=True), Y),
        (PrivateRanker(**COMMON, positive_label=True, risk="pairs"), Y),
        (PrivateRanker(**COMMON, positive_label=True, representation="ranges", start_seed=5, linear_share=0.6), Y),
        (PrivateRanker(**COMMON, positive_label=True, max_records=1000), Y),
        (PrivateClassifier(**COMMON, classes=(False, True)), Y),
        (PrivateRegressor(**COMMON, target_bounds=(-1.0, 1.0), steps=5), X[:, 0] * X[:, 1]),
    ]


@pytest.mark.parametrize(("estimator", "target"), estimators())
def test_both_verifiers_say_yes_and_no_to_changes(estimator, target):
    model = json.loads(estimator.fit(X, target).model_)
    verdict = verification.verify(model)
    assert verdict.holds, [check for check in verdict.checks if check.failure]
    assert estimator.verify()
    for change in ("hidden", "seed"):
        changed = json.loads(json.dumps(model))
        changed["certificate"]["problem"]["score"]["network"][change] += 1
        assert not verification.verify(changed).holds
    for number in ("sensitivity", "kernel_error", "sigma"):
        changed = json.loads(json.dumps(model))
        changed["certificate"]["released"]["releases"][0][number] *= 0.9
        assert not verification.verify(changed).holds
    changed = json.loads(json.dumps(model))
    changed["certificate"]["released"]["kernel"] = "rows/2"
    assert not verification.verify(changed).holds


def test_survival_learns_by_a_network():
    times = np.where(Y, 1.0, 3.0) + RANDOM.uniform(0.0, 1.0, len(Y))
    target = np.rec.fromarrays([np.ones(len(Y), dtype=bool), times], names=["event", "time"])
    ranker = PrivateSurvivalRanker(**COMMON, horizon=5.0, steps=5).fit(X, target)
    assert verification.verify(json.loads(ranker.model_)).holds


def test_a_network_has_no_coefficients_and_no_reasons():
    ranker = PrivateRanker(**COMMON, positive_label=True).fit(X, Y)
    assert not hasattr(ranker, "coef_")
    with pytest.raises(AttributeError, match="no coefficients"):
        ranker.explain(X[:3])
    with pytest.raises(AttributeError, match="no coefficients"):
        _ = ranker.coefficients_
    again = PrivateRanker(epsilon=1.0, delta=1e-6, bounds=(-1.0, 1.0), positive_label=True).fit(X, Y)
    assert again.coef_.size > 0


def test_a_file_keeps_the_network(tmp_path):
    ranker = PrivateRanker(**COMMON, positive_label=True).fit(X, Y)
    ranker.save(tmp_path / "model.json")
    again = PrivateRanker.load(tmp_path / "model.json")
    assert np.array_equal(again.decision_function(X), ranker.decision_function(X))


@pytest.mark.parametrize("representation", ["ranges", "ranks"])
def test_onnx_computes_the_same_scores(representation, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    ranker = PrivateRanker(**COMMON, positive_label=True, representation=representation).fit(X, Y)
    ranker.to_onnx(tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    (scores,) = session.run(["score"], {"numbers": X})
    assert np.allclose(scores, ranker.decision_function(X), rtol=0.0, atol=1e-9)


def test_hidden_units_without_a_network_are_refused():
    with pytest.raises(ValueError, match="these scores are linear"):
        PrivateRanker(epsilon=1.0, delta=1e-6, bounds=(-1.0, 1.0), hidden=5, positive_label=True).fit(X, Y)


@pytest.mark.skipif(not (ROOT / "README.md").exists(), reason="the repository is not around the tests")
def test_the_guide_to_networks_runs_as_printed(capsys):
    run(Path(ROOT) / "docs" / "networks.md")
    linear, network = (line.split() for line in capsys.readouterr().out.splitlines())
    assert float(linear[1]) < 0.65 and float(network[1]) > 0.85
    assert linear[2] == network[2] == "True"
