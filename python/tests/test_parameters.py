"""Parameters are ordinary keywords, and what they may hold is what the core says."""

import inspect
import json
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import pairdp
from pairdp import PrivateClassifier, PrivateMetric, PrivateRanker, PrivateRegressor, _core, baseline
from pairdp._parameters import AUTO, LOSSES, SETTINGS, TASKS

PRIVATE = (PrivateRanker, PrivateMetric, PrivateClassifier, PrivateRegressor)
TWINS = (baseline.Ranker, baseline.Metric, baseline.Classifier, baseline.Regressor)
EVERY = pytest.mark.parametrize("kind", PRIVATE + TWINS, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")

HELP = Path(__file__).resolve().parents[2] / "crates" / "cli" / "tests" / "snapshots" / "help.md"

# What the core can be told and an estimator says in another way, or not at all, each with the reason.
ELSEWHERE = {
    "task": "is the class",
    "positive_rate": "nothing depends on it any more",
    "foreign_parameters": "the score knows it",
}


def parameters(kind):
    return inspect.signature(kind).parameters


def test_every_setting_of_the_core_is_a_parameter():
    said = set().union(*(parameters(kind) for kind in PRIVATE))
    assert set(SETTINGS) - said <= set(ELSEWHERE)


@pytest.mark.skipif(not HELP.exists(), reason="the repository is not around the tests")
def test_the_command_has_the_same_names_and_choices():
    """As its help has them, whose transcript is a test of the command."""
    text = HELP.read_text(encoding="utf-8").split("$ pairdp train --help\n")[1].split("\nHow to learn:\n")[1]
    text = " ".join(text.split("\n\n")[0].split())
    flags = dict(
        re.findall(
            r"--([a-z-]+) (.*?)(?= --[a-z-]+ <| --no-[a-z]+| --public-labels| --promised| --probabilities|$)", text
        )
    )
    # In Python one word says both: a number of expected pairs is a choice of sampling.
    names = {name.replace("-", "_").removeprefix("no_") for name in flags} - {"sampling"}
    # Whom the command protects follows from the schema, and a cap is on that; a function of one's own only Python can hand over.
    assert names - {"max_persons"} == set(SETTINGS) - {"unit", "foreign_parameters", "gradient_bound"}
    for flag, described in flags.items():
        listed = re.search(r"\[possible values: ([^]]*)\]", described)
        if listed and flag != "sampling":
            choices = [choice for choice in listed[1].split(", ") if choice != "auto"]
            assert choices == SETTINGS[flag.replace("-", "_")]["holds"], flag


@EVERY
def test_defaults_are_those_of_the_core(kind):
    for name, stated in parameters(kind).items():
        # In Python whom it protects follows from what `fit` is told, unless it is said.
        if name in SETTINGS and name != "unit":
            expected = "auto" if name in AUTO else SETTINGS[name]["default"]
            assert stated.default == expected, name


@EVERY
def test_every_parameter_is_documented_once_with_what_it_may_hold(kind):
    section = kind.__doc__.split("----------\n")[1].split("\n\n")[0]
    assert re.findall(r"^(\w+) : ", section, flags=re.MULTILINE) == sorted(
        parameters(kind), key=lambda name: section.index(f"\n{name} : ") if f"\n{name} : " in section else -1
    )
    assert len(re.findall(r"^\w+ : ", section, flags=re.MULTILINE)) == len(parameters(kind))
    losses = ", ".join(f'"{loss}"' for loss in LOSSES[kind._task])
    assert f"loss : {{{losses}}}, optional" in section
    if "algorithm" in parameters(kind):
        assert all(f'"{algorithm}"' in section for algorithm in SETTINGS["algorithm"]["holds"])


def test_parameters_are_there_only_where_they_apply():
    assert [kind for kind in PRIVATE + TWINS if "public_labels" in parameters(kind)] == [PrivateMetric]
    assert [kind for kind in PRIVATE + TWINS if "risk" in parameters(kind)] == [PrivateRanker, baseline.Ranker]
    assert not {"q", "intercept"} & set(parameters(PrivateMetric))
    assert not {"epsilon", "algorithm", "mechanism", "max_records", "order"} & set(parameters(baseline.Ranker))


def test_tables_of_the_core_are_those_that_it_accepts():
    assert TASKS == list(LOSSES) == ["ranking", "metric", "classification", "regression", "survival"]
    for task, losses in LOSSES.items():
        for loss in SETTINGS["loss"]["holds"]:
            plan = {"task": task, "loss": loss, "epsilon": 1.0, "delta": 1e-6, "algorithm": "noisy-gd"}
            if loss in losses:
                assert pairdp.plan(100, 3, **plan)["plan"]["algorithm"] == "noisy-gd"
            else:
                with pytest.raises(ValueError, match=f"{task} has no {loss} loss"):
                    pairdp.plan(100, 3, **plan)
    for name, entry in SETTINGS.items():
        assert entry["holds"] in ("bool", "int", "float") or len(entry["holds"]) > 1, name


def test_a_grid_search_sees_every_parameter():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(300, 2))
    y = (X[:, 0] > 0).astype(int)
    ranker = PrivateRanker(epsilon=5.0, delta=1e-4, bounds=(-1, 1), algorithm="output-sgd", ridge=0.1)
    grid = {"average": ["last", "all"], "order": ["reshuffled", "fixed-permutation"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pairdp.PrivacyTuningWarning)
        search = GridSearchCV(ranker, grid, cv=2, error_score="raise").fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    best = search.best_estimator_
    assert best.plan_["average"] == search.best_params_["average"]
    assert best.plan_["order"]["shuffle"] == search.best_params_["order"]
    assert clone(best).get_params() == best.get_params()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"algorithm": "noisy-dg"}, "algorithm must be one of auto, noisy-gd, "),
        ({"loss": 3}, "loss must be one of logistic, "),
        ({"steps": 2.5}, r"steps must be a whole number of at least 0, not 2\.5"),
        ({"steps": True}, "steps must be a whole number"),
        ({"momentum": "much"}, "momentum must be a finite number, not 'much'"),
        ({"radius": float("nan")}, "radius must be a finite number, not nan"),
        ({"intercept": "yes"}, "intercept must be True or False, not 'yes'"),
        ({"order": "alphabetical"}, "order must be one of with-replacement, fixed-permutation, reshuffled"),
    ],
)
def test_a_value_that_is_none_is_refused_by_name(wrong, words):
    X = np.zeros((10, 2))
    with pytest.raises(ValueError, match=words):
        PrivateRanker(epsilon=1.0, delta=1e-6, bounds=(-1, 1), **wrong).fit(X, [0, 1] * 5)


def test_a_model_is_read_once(monkeypatch):
    X = np.linspace(-1, 1, 40).reshape(20, 2)
    fitted = PrivateRanker(epsilon=1.0, delta=1e-6, bounds=(-1, 1)).fit(X, X[:, 0] > 0)
    copies = [fitted, pickle.loads(pickle.dumps(fitted))]

    def never(*_):
        raise AssertionError("the model was parsed again")

    monkeypatch.setattr(json, "loads", never)
    monkeypatch.setattr(_core, "Model", never)
    scores = [copy.decision_function(X) for copy in copies]
    np.testing.assert_array_equal(*scores)
    assert copies[1].model_ == fitted.model_
    assert copies[1].verify()
