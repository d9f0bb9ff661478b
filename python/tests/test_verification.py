"""pairdp.verification: a second opinion on certificates, from code that shares nothing with the first."""

import ast
import copy
import json
import math
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from pairdp import _core, verification
from pairdp.verification import facts, orders, samples

FOLDER = Path(verification.__file__).parent
COLUMNS = json.dumps({"columns": [{"name": name, "range": [-1, 1]} for name in ("x0", "x1")]})

SETTINGS = [
    {"algorithm": "noisy-gd", "steps": 4},
    {"algorithm": "noisy-gd", "steps": 3, "mechanism": "laplace", "loss": "hinge"},
    {
        "algorithm": "noisy-gd",
        "steps": 3,
        "mechanism": "euclidean",
        "loss": "q-hinge",
        "form": "symmetric",
        "radius": 1.0,
    },
    {"algorithm": "noisy-gd", "steps": 3, "task": "metric", "domain": "psd-nuclear", "radius": 2.0},
    {"algorithm": "noisy-gd", "steps": 3, "task": "regression", "loss": "q-norm"},
    {"algorithm": "noisy-gd", "steps": 3, "task": "classification", "domain": "whole"},
    {"algorithm": "noisy-gd", "steps": 4, "calibration": "literal", "paper": "kang", "radius": 1.0},
    {"algorithm": "noisy-sgd", "steps": 40},
    {"algorithm": "noisy-sgd", "steps": 40, "task": "classification", "loss": "squared", "radius": 1.0},
    {"algorithm": "noisy-sgd", "steps": 40, "task": "metric", "expected_pairs": 4.0},
    {"algorithm": "noisy-sgd", "steps": 40, "task": "metric", "public_labels": True, "loss": "logistic"},
    {"algorithm": "noisy-gd", "steps": 3, "max_records": 60},
    {"algorithm": "noisy-gd", "steps": 3, "task": "metric", "loss": "logistic", "max_records": 60},
    {"algorithm": "noisy-gd", "steps": 3, "loss": "capped-logistic"},
    {"algorithm": "noisy-gd", "steps": 3, "loss": "capped-logistic", "domain": "whole"},
    {"algorithm": "noisy-gd", "steps": 3, "loss": "capped-logistic", "risk": "records", "representation": "ranks"},
    {"algorithm": "moments", "representation": "ranks", "task": "regression"},
    {"algorithm": "noisy-gd", "steps": 3, "representation": "ranks", "max_records": 60, "task": "classification"},
    {"algorithm": "moments", "representation": "ranks"},
    {"algorithm": "moments", "representation": "ranks", "mechanism": "laplace"},
    {"task": "metric", "representation": "ranks"},
    {"task": "metric", "representation": "ranks", "max_records": 60},
    {"task": "metric", "representation": "ranks", "mechanism": "laplace"},
    {"algorithm": "moments", "max_records": 60},
    {"algorithm": "moments", "max_records": 60, "promised": True},
    {"algorithm": "noisy-gd", "steps": 3, "max_records": 60, "promised": True, "task": "classification"},
    {"algorithm": "moments"},
    {"algorithm": "moments", "mechanism": "laplace"},
    {"algorithm": "online-pair", "loss": "hinge"},
    {"algorithm": "output-gd", "steps": 20, "ridge": 0.1},
    {
        "algorithm": "output-gd",
        "steps": 20,
        "task": "metric",
        "loss": "hinge",
        "public_labels": True,
        "radius": 1.0,
    },
    {"algorithm": "output-gd", "steps": 20, "task": "regression", "mechanism": "gaussian"},
    {"algorithm": "output-sgd", "steps": 90, "mechanism": "laplace"},
    {"algorithm": "output-sgd", "steps": 90, "loss": "hinge", "order": "with-replacement", "average": "all"},
    {
        "algorithm": "output-sgd",
        "steps": 90,
        "task": "classification",
        "loss": "q-hinge",
        "order": "fixed-permutation",
    },
    {"algorithm": "phased-gd", "loss": "squared", "radius": 1.0, "feature_bound": 0.5},
    {"algorithm": "localized-sgd", "loss": "hinge", "mechanism": "gaussian", "step_size": 0.1},
    {"algorithm": "localized-sgd", "ridge": 0.05},
    {"algorithm": "offline-pair", "task": "metric", "mechanism": "gaussian"},
    {"algorithm": "matching-sgd", "steps": 70, "loss": "q-hinge", "q": 1.8, "ridge": 0.01, "step_size": 0.05},
    {"algorithm": "matching-sgd", "steps": 70, "order": "with-replacement", "mechanism": "gaussian"},
]


def train(settings, records=41):
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, size=(records, 2))
    y = np.where(X[:, 0] + rng.normal(size=records) > 0, 1.0, -1.0)
    delta = 0.0 if settings.get("mechanism") == "laplace" else 1e-6
    order = {"order_seed": 12} if settings.get("algorithm") in ("output-sgd", "matching-sgd") else {}
    choices = {"task": "ranking"} | order | settings
    return _core.fit(X, y, COLUMNS, None, json.dumps(choices), 1.0, delta).text


@pytest.fixture(scope="module", params=SETTINGS, ids=lambda s: "-".join(str(value) for value in s.values()))
def model(request):
    return json.loads(train(request.param))


def failures(document):
    return [(check.name, check.failure) for check in verification.verify(document).checks if check.failure]


def numbers(node, path=()):
    if isinstance(node, dict | list):
        for key, entry in node.items() if isinstance(node, dict) else enumerate(node):
            yield from numbers(entry, (*path, key))
    elif isinstance(node, int | float):
        yield path, node


def test_what_training_certifies_holds(model):
    assert failures(model) == []
    assert verification.verify(json.dumps(model)).holds


@pytest.mark.parametrize("settings", [s for s in SETTINGS if s.get("representation") == "ranks"])
def test_places_of_empty_cells_are_counted(settings):
    """A column with a place for them has one weight and one mapped column more; nothing else fits."""
    columns = [{"name": "a", "range": [-1.0, 1.0], "missing": "own"}, {"name": "b", "categories": ["own", "u"]}]
    rng = np.random.default_rng(3)
    cells = [np.where(rng.random(41) < 0.3, np.nan, rng.uniform(-1, 1, 41)), rng.choice(["own", "u"], 41).tolist()]
    y = rng.choice([-1.0, 1.0], 41)
    delta = 0.0 if settings.get("mechanism") == "laplace" else 1e-6
    choices = json.dumps({"task": "ranking"} | settings)
    document = json.loads(_core.fit(cells, y, json.dumps({"columns": columns}), None, choices, 1.0, delta).text)
    assert failures(document) == []
    stage = document["certificate"]["stages"][0]
    # Targets of a regression have knots, too.
    target = 57 if settings.get("task") == "regression" else 0
    assert stage["coordinates"] == 57 + 1 + 2 + 1 + target + ("max_records" in settings)
    for missing in (0.5, "Own"):
        changed = copy.deepcopy(document)
        changed["predictor"]["encoding"]["columns"][0]["missing"] = missing
        assert failures(changed)
    fewer = copy.deepcopy(document)
    for plan in (fewer["certificate"]["stages"][0], fewer["training"]["representation"]):
        plan["coordinates"] -= 1
    fewer["predictor"]["representation"]["weights"].pop()
    assert failures(fewer)


def plays_no_part(model, path):
    """Numbers that the claim does not rest on: δ of pure noise, and where a loss that is equally steep everywhere was."""
    certificate = model["certificate"]
    everywhere = '"hinge"' in json.dumps(certificate["problem"]["objective"].get("ranking", {}))
    everywhere |= "capped-logistic" in json.dumps(certificate["problem"]["objective"])
    pure = certificate["noise"] != "rounded-gaussian/1"
    # Moments are of targets over their bound, whatever that is.
    divided = certificate["algorithm"] == "moments" and path[-1] == "target_bound"
    return (path == ("claim", "delta") and pure) or (path[-1] == "iterate_norm" and everywhere) or divided


def test_a_changed_number_is_noticed(model):
    for path, value in numbers(model["certificate"]):
        for factor in (0.5, 2):
            changed = copy.deepcopy(model)
            node = changed["certificate"]
            for key in path[:-1]:
                node = node[key]
            node[path[-1]] = type(value)(value * factor)
            if node[path[-1]] != value and not plays_no_part(model, path):
                assert failures(changed), f"{path} times {factor}"


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.pop("ridge"),
        lambda m: m["certificate"].update(format="pairdp-certificate/1"),
        lambda m: m["certificate"].update(note="trust me"),
        lambda m: m["certificate"].update(noise="none"),
        lambda m: m["certificate"].update(algorithm="output-gd"),
        lambda m: m["certificate"]["claim"].update(adjacency="add-remove-one"),
        lambda m: m["certificate"]["claim"].update(epsilon=True),
        lambda m: m["certificate"]["claim"].update(epsilon=math.nan),
        lambda m: m["certificate"]["claim"].update(delta="1e-6"),
        lambda m: m["certificate"].update(records=41.0),
        lambda m: m["certificate"]["problem"].update(domain="whole"),
        lambda m: m["certificate"]["released"].update(releases=[]),
        lambda m: m["certificate"]["released"]["releases"].append(m["certificate"]["released"]["releases"][0]),
        lambda m: m["certificate"]["released"]["releases"][0].update(sigma=None),
        lambda m: m["training"].update(law="laplace"),
        lambda m: m["predictor"].update(parameters=[100.0, 0.0]),
        lambda m: m["predictor"].update(feature_bound=2.0),
        # The square of a bound beside a constant would hide its sign.
        lambda m: m["predictor"].update(feature_bound=-m["predictor"]["feature_bound"]),
    ],
)
def test_other_changes_are_noticed_too(change):
    document = json.loads(train(SETTINGS[0]))
    assert not failures(document)
    change(document)
    assert failures(document)


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m["predictor"].update(parameters=[None, None]),
        lambda m: m["predictor"]["parameters"].__setitem__(0, "x"),
        lambda m: m["training"].update(step_size=-1.0),
        lambda m: m["training"].update(step_size=None),
        lambda m: m["training"].update(average=7),
        lambda m: m["predictor"]["encoding"]["columns"][0].pop("range"),
        lambda m: m["predictor"]["encoding"]["columns"][0]["range"].reverse(),
        lambda m: m["predictor"]["encoding"]["columns"][0].update(name=3),
        lambda m: m["predictor"].update(representation=3),
        lambda m: m["predictor"]["encoding"].update(columns="two"),
        lambda m: m.update(ridge="0"),
    ],
)
def test_what_the_other_verifier_cannot_read_does_not_hold(change):
    document = json.loads(train(SETTINGS[0]))
    change(document)
    assert failures(document)


def test_a_bound_below_zero_is_noticed_beside_a_constant():
    document = json.loads(train({"task": "classification"}))
    assert not failures(document) and document["predictor"]["constant"] > 0.0
    document["predictor"]["feature_bound"] *= -1.0
    assert failures(document)


@pytest.mark.parametrize(
    "text", ["{}", '{"format": 1, "format": 2}', '{"certificate": NaN}', '{"a": ' * 50 + "1" + "}" * 50]
)
def test_files_that_are_no_models_do_not_hold(text):
    assert not verification.verify(text).holds


def test_nothing_but_numpy_and_scipy_is_imported():
    own = {path.stem for path in FOLDER.glob("*.py")}
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                assert node.level == 1 and (node.module in own or node.module is None), path
            elif isinstance(node, ast.ImportFrom | ast.Import):
                names = [node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
                for name in names:
                    top = name.split(".")[0]
                    assert top in ("numpy", "scipy") or top in sys.stdlib_module_names, (path, name)


def test_the_folder_runs_alone(tmp_path):
    shutil.copytree(FOLDER, tmp_path / "copied_out", ignore=shutil.ignore_patterns("__pycache__"))
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(train(SETTINGS[0]), encoding="utf-8")
    document = json.loads(good.read_text(encoding="utf-8"))
    document["certificate"]["claim"]["epsilon"] = 0.5
    bad.write_text(json.dumps(document), encoding="utf-8")
    block = tmp_path / "copied_out" / "pairdp.py"
    block.write_text("raise ImportError('the package must not be needed')", encoding="utf-8")
    for file, code, answer in ((good, 0, "yes:"), (bad, 1, "no:"), (tmp_path / "missing.json", 2, "")):
        command = [sys.executable, "-X", "utf8", str(tmp_path / "copied_out"), str(file)]
        run = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=tmp_path, check=False)
        assert run.returncode == code, run.stderr
        assert answer in run.stdout


def test_words_are_those_of_the_standard():
    """RFC 8439, appendix A.1, test vector 1: the second half of the first block (the first is the next key)."""
    handed_out = bytes.fromhex("da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586")
    source = orders.words(0)
    assert b"".join(next(source).to_bytes(8, "little") for _ in range(4)) == handed_out


def test_orders_are_permutations_and_matchings():
    for shuffle in ("fixed-permutation", "reshuffled"):
        order = {"shuffle": shuffle, "seed": 2**60 + 1}
        found = orders.indices(order, 7, 21)
        assert all(sorted(found[at : at + 7]) == list(range(7)) for at in (0, 7, 14))
        assert (found[:7] == found[7:14]) == (shuffle == "fixed-permutation")
        for at in range(0, 9, 3):
            pass_of_pairs = orders.pairs(order, 7, 9)[at : at + 3]
            assert len({index for pair in pass_of_pairs for index in pair}) == 6


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("d", [0.2, 1.0, 2.5])
def test_sampled_delta_of_one_step_and_of_no_sampling(epsilon, d):
    q = 0.02
    exact = q * facts.gaussian_delta(math.log1p(math.expm1(epsilon) / q), d)
    if exact > 1e-300:
        found, _ = samples.composed_delta(lambda e, cut: samples.symmetric_pair(q, d, e, cut), 1, epsilon, exact)
        assert found == pytest.approx(exact, rel=1e-6)
    exact = facts.gaussian_delta(epsilon, d * math.sqrt(9))
    found, _ = samples.composed_delta(lambda e, cut: samples.symmetric_pair(1.0, d, e, cut), 9, epsilon, exact)
    assert found == pytest.approx(exact, rel=1e-5)
    # Two records have one pair: kept for certain, it is a step of ratio 2d without sampling.
    exact = facts.gaussian_delta(epsilon, 2 * d * math.sqrt(5))
    pair = samples.opposed_mixtures
    found, _ = samples.composed_delta(lambda e, cut: pair(2, 1 - 1e-12, d, e, cut), 5, epsilon, exact)
    assert found == pytest.approx(exact, rel=1e-5)


@pytest.mark.parametrize("algorithm", ["output-gd", "output-sgd", "matching-sgd", "localized-sgd", "online-pair"])
def test_no_records_and_endless_paths_are_answered_at_once(algorithm):
    settings = {"algorithm": algorithm} | ({} if algorithm in ("localized-sgd", "online-pair") else {"steps": 20})
    document = json.loads(train(settings))
    for records, steps in ((0, None), (1, None), (2**64 - 1, None), (41, 2**32 - 1), (2**32, 2**32 - 1)):
        hostile = copy.deepcopy(document)
        released = hostile["certificate"]["released"]
        hostile["certificate"]["records"] = records
        for phase in released.get("phases", [released])[:1]:
            phase.update({"records": records} if "records" in phase else {})
            phase.update({} if steps is None else {"steps": steps})
        start = time.process_time()
        assert failures(hostile)
        assert time.process_time() - start < 1.0


def test_what_takes_too_long_is_refused_by_the_name_of_work():
    document = json.loads(train({"algorithm": "matching-sgd", "steps": 70}))
    checks = verification.verify(document, patience=0.0).checks
    why = [check.failure for check in checks if check.failure]
    assert [check.name for check in checks if check.failure] == ["work", "sensitivity"]
    assert why[0].startswith("the path is too long to recompute: it would take about ")


def test_the_verifier_in_rust_has_files_of_the_same_names():
    rust = Path(__file__).parents[2] / "crates" / "verify" / "src"
    if not rust.is_dir():
        pytest.skip("the sources are not here")
    here = {path.stem for path in FOLDER.glob("*.py")} - {"__init__", "__main__"}
    # What a file may hold is a crate of its own there, and so are signatures.
    assert here - {"reading", "signature"} == {path.stem for path in rust.glob("*.rs")} - {"lib"}


@pytest.mark.parametrize(
    ("settings", "change", "why"),
    [
        (
            {"algorithm": "noisy-gd", "steps": 3, "task": "metric", "loss": "logistic", "max_records": 60},
            lambda p: p.update(labels="public"),
            "push out",
        ),
        (
            {"algorithm": "noisy-sgd", "steps": 40, "task": "metric", "loss": "logistic", "public_labels": True},
            lambda p: None,
            "features only",
        ),
        (
            {"algorithm": "noisy-gd", "steps": 3, "task": "metric", "loss": "logistic", "max_records": 60},
            lambda p: None,
            "rounding of other distances",
        ),
    ],
    ids=["issue_18_01", "issue_18_02_and_03", "issue_18_08"],
)
def test_certificates_of_version_0_1_are_refused_with_the_reason(settings, change, why):
    document = json.loads(train(settings))
    certificate = document["certificate"]
    certificate["format"] = "pairdp-certificate/2"
    if certificate["claim"]["adjacency"] == "replace-features":
        certificate["claim"]["adjacency"] = "replace-one"
    change(certificate["problem"])
    found = dict(failures(document))
    assert why in found["version"], found
    # The other verifier says so, too.
    judged = {name: failure for name, _, failure in _core.Model(json.dumps(document)).verify() if failure}
    assert "version 0.1" in judged["version"], judged


def test_other_certificates_of_version_0_1_still_hold():
    document = json.loads(train({"algorithm": "moments"}))
    document["certificate"]["format"] = "pairdp-certificate/2"
    assert failures(document) == []


def test_half_of_the_noise_that_public_labels_need_is_refused():
    """Version 0.1 took R·max(pull, push) for R·(pull + push): issue_18_02."""
    settings = {"algorithm": "noisy-sgd", "steps": 40, "task": "metric", "loss": "logistic", "public_labels": True}
    document = json.loads(train(settings))
    for name in ("sensitivity", "sigma"):
        document["certificate"]["released"][name] *= 0.5
    assert {"sensitivity"} <= set(dict(failures(document)))


@pytest.mark.parametrize("share", [0.0, 1.0, -0.3, 1.3, 0.31, 0.299])
def test_a_share_that_was_not_spent_is_refused(share):
    document = json.loads(train({"algorithm": "moments", "representation": "ranks"}))
    assert not failures(document)
    document["training"]["representation"]["share"] = share
    assert failures(document)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("map",), [[0.0, 1.0]]),
        (("representation", "map"), [[0.0, 1.0]]),
        (("representation", "cumulative"), [1.0, 0.0]),
        (("representation", "reading"), "ranks/1"),
        (("representation", "reading"), "distances/1"),
        (("representation", "weights"), [1.0]),
    ],
)
def test_a_map_that_does_not_follow_from_released_weights_is_refused(place, value):
    document = json.loads(train({"algorithm": "moments", "representation": "ranks"}))
    node = document["predictor"]
    for name in place[:-1]:
        node = node[name]
    node[place[-1]] = value
    assert failures(document)


def test_only_a_metric_of_ranks_alone_takes_no_step():
    document = json.loads(train({"task": "metric", "representation": "ranks"}))
    assert document["training"]["steps"] == 0
    assert not failures(document)
    for steps, reading in ((1, "distances/1"), (0, "ranks/2")):
        other = copy.deepcopy(document)
        other["training"]["steps"] = other["certificate"]["released"]["steps"] = steps
        other["predictor"]["representation"]["reading"] = reading
        assert failures(other)
