"""Scores of one's own: the same sums as the kernel's, clipped exactly, certified on a condition, and looked at for common faults."""

import copy
import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from pairdp import (
    PrivateClassifier,
    PrivateRanker,
    PrivateRegressor,
    PrivateSurvivalRanker,
    _core,
    evaluate,
    verification,
)
from pairdp.exceptions import PrivacyPlanWarning
from pairdp.scores import BLOCK, BlockScore, JaxScore, Score, TorchScore, check, clipped_sum
from pairdp.scores._blocks import imported
from pairdp.scores._condition import RESTS_ON, condition_of
from test_readme import ROOT, run

RANDOM = np.random.default_rng(5)
X = RANDOM.uniform(-1.0, 1.0, (900, 3))
Y = X[:, 0] * X[:, 1] > 0.0
HIDDEN = 5
COMMON = {"epsilon": 2.0, "delta": 1e-6, "bounds": (-1.0, 1.0)}


class Hidden(BlockScore):
    """One hidden layer as `network/1` has it, in NumPy."""

    def __init__(self, columns=3, hidden=HIDDEN, linear=0.6, kappa=1.0, start=None):
        self.columns, self.hidden, self.linear, self.kappa = columns, hidden, linear, kappa
        self.parameters = columns + hidden * (columns + 2)
        self.start = start

    def initial(self, seed):
        if self.start is not None:
            return np.array(self.start)
        random = np.random.default_rng(seed)
        zeros = np.zeros(self.columns + self.hidden)
        return np.concatenate([zeros, random.normal(size=self.parameters - len(zeros))])

    def layers(self, w):
        d, h = self.columns, self.hidden
        return w[:d], w[d : d + h], w[d + h : d + 2 * h], w[d + 2 * h :].reshape(h, d)

    def scale(self):
        return math.sqrt(1.0 - self.linear**2) * self.kappa / math.sqrt(self.hidden)

    def block_scores(self, w, X):
        v, u, b, inner = self.layers(w)
        return self.linear * (X @ v) + self.scale() * (np.tanh(X @ inner.T / self.kappa + b) @ u)

    def block_gradients(self, w, X):
        _, u, b, inner = self.layers(w)
        a = np.tanh(X @ inner.T / self.kappa + b)
        delta = self.scale() * u * (1.0 - a**2)
        outer = (delta[:, :, None] * X[:, None, :] / self.kappa).reshape(len(X), -1)
        return np.hstack([self.linear * X, self.scale() * a, delta, outer])


def encoding(columns=3):
    return json.dumps({"columns": [{"name": f"x{k}", "range": [-1.0, 1.0]} for k in range(columns)]})


def jax_hidden(start):
    """Return the same in JAX, in float64."""
    jnp = pytest.importorskip("jax.numpy")
    twin = Hidden()

    def score(w, x):
        v, u, b, inner = twin.layers(w)
        return twin.linear * (v @ x) + twin.scale() * (u @ jnp.tanh(inner @ x / twin.kappa + b))

    return JaxScore(score, np.array(start))


def rehearsed(settings, score=None, table=(X, Y)):
    """Return the parameters of a run whose noise can be repeated."""
    rows, labels = table
    said = {"task": "ranking", "algorithm": "noisy-gd", "representation": "ranges", "loss": "capped-logistic"}
    said |= {"intercept": False, "average": "last"} | settings
    foreign = None if score is None else (score, condition_of(score))
    targets = np.where(labels, 1.0, -1.0)
    return np.array(_core.rehearse(rows, targets, encoding(rows.shape[1]), json.dumps(said), 2.0, 1e-6, 3, foreign))


@pytest.mark.parametrize("kind", ["numpy", "jax"])
@pytest.mark.parametrize("risk", ["pairs", "records"])
def test_released_sums_are_those_of_network_1(kind, risk):
    # Both draw the same noise, of the same scale, so that nothing is left but what the sums differ by.
    table = (X[:700], Y[:700])
    ours = {"scores": "network", "hidden": HIDDEN, "linear_share": 0.6, "feature_bound": 1.0, "risk": risk}
    # A step of no length leaves our own network at its start.
    start = rehearsed(ours | {"steps": 1, "step_size": 1e-200}, table=table)
    twin = Hidden(start=start) if kind == "numpy" else jax_hidden(start)
    foreign = {"foreign_parameters": twin.parameters, "gradient_bound": 1.0, "feature_bound": 1.0, "risk": risk}
    for steps in (1, 8):
        said = {"steps": steps, "step_size": 1.0, "momentum": 0.0}
        one, other = (rehearsed(a | said, b, table=table) for a, b in ((ours, None), (foreign, twin)))
        assert np.abs(one - start).max() > 1e-2
        assert np.abs(one - other).max() < 1e-9 * steps, steps


def test_gradients_are_clipped_exactly_on_hostile_rows():
    p = 1000
    tiny = np.full(p, 5e-324)
    huge = np.zeros(p)
    huge[7] = 1e300
    mixed = np.full(p, 1e-160)
    mixed[3] = 1e5
    half = np.float32(RANDOM.normal(size=p)) * np.float32(1e18)
    rows = np.stack([tiny, huge, mixed, half, np.full(p, 1e154), RANDOM.normal(size=p), np.full(p, 3e-17)])
    for bound in (1.0, 1e-6, 0.7, 1e12):
        for at, gradient in enumerate(rows):
            found = clipped_sum(np.ones(1), gradient[None], bound)
            exact = sum(Fraction(float(value)) ** 2 for value in found)
            assert exact <= Fraction(bound) ** 2, (bound, at)
    # What is shorter stays as it is, and what is no number is nothing, beside others, too.
    short = np.array([[0.25, -0.5]])
    assert np.array_equal(clipped_sum(np.array([3.0]), short, 1.0), [0.75, -1.5])
    for broken in (np.nan, np.inf, -np.inf, 1e300):
        beside = np.array([[broken, 0.0], [0.25, -0.5]])
        assert np.array_equal(clipped_sum(np.array([1.0, 2.0]), beside, 1.0), [0.5, -1.0])


def test_float32_gradients_are_summed_in_float64():
    n, p = BLOCK * 40 + 3, 11
    gradients = np.float32(RANDOM.normal(size=(n, p)) * 1e-2)

    class Given(BlockScore):
        parameters = p

        def initial(self, seed):
            return np.zeros(p)

        def block_scores(self, w, X):
            return X[:, 0]

        def block_gradients(self, w, X):
            return gradients[np.clip(X[:, 0].astype(int), 0, n - 1)]

    charges = RANDOM.normal(size=n) * 1e3
    rows = np.arange(n, dtype=np.float64)[:, None]
    found = Given().weighted_clipped_gradient(np.zeros(p), rows, charges, 1.0)
    for k in range(p):
        exact = sum(Fraction(float(c)) * Fraction(float(g)) for c, g in zip(charges, gradients[:, k], strict=True))
        allowed = 272 * 2.0**-52 * float(np.abs(charges * gradients[:, k]).sum())
        assert abs(Fraction(float(found[k])) - exact) <= Fraction(allowed)
    # Rows of zeros that fill up the last block have no charge.
    assert np.array_equal(Given().scores(np.zeros(p), rows), rows[:, 0])


def fitted(score, **more):
    return PrivateRanker(**COMMON, positive_label=True, scores=score, steps=30, **more).fit(X, Y)


def estimators():
    return [
        fitted(Hidden()),
        fitted(Hidden(), risk="records", gradient_bound=0.5),
        fitted(Hidden(), loss="logistic"),
        fitted(Hidden(), loss="hinge", form="symmetric"),
        fitted(Hidden(), ridge=0.1),
        PrivateClassifier(**COMMON, classes=(False, True), scores=Hidden(), steps=30).fit(X, Y),
    ]


def test_both_verifiers_say_yes_if_and_no_to_changes():
    for estimator in estimators():
        model = json.loads(estimator.model_)
        verdict = verification.verify(model)
        assert verdict.relations_hold, [check for check in verdict.checks if check.failure]
        assert not verdict.holds and verdict.condition == RESTS_ON
        assert estimator.verify(accept_foreign=True) and not estimator.verify()
        certificate = model["certificate"]
        assert certificate["released"]["kernel"] == "foreign/1"
        assert certificate["condition"]["class"] == "conditional"
        assert certificate["condition"]["function"]["name"].endswith("Hidden")
        assert len(certificate["condition"]["adapter"]["sha256"]) == 64
        for change in changes(model):
            assert not verification.verify(change).relations_hold
            try:
                checks = _core.Model(json.dumps(change)).verify()
            except ValueError:
                continue
            assert any(failure for _, _, failure in checks)


def changes(model):
    def changed():
        return copy.deepcopy(model)

    for number in ("sensitivity", "kernel_error", "sigma"):
        one = changed()
        one["certificate"]["released"]["releases"][0][number] *= 0.9
        yield one
    for name, factor in (("bound", 2.0), ("parameters", 2)):
        one = changed()
        for part in (one["certificate"]["problem"], one["predictor"]):
            part["score"]["foreign"][name] *= factor
        yield one
    one = changed()
    del one["certificate"]["condition"]
    yield one
    one = changed()
    one["certificate"]["condition"]["rests_on"] = "nothing at all"
    yield one
    one = changed()
    one["certificate"]["released"]["kernel"] = "network/1"
    yield one
    one = changed()
    one["certificate"]["problem"]["neighbours"] = {"add-remove-one": {"most": one["certificate"]["records"]}}
    one["certificate"]["claim"]["adjacency"] = "add-remove-one"
    yield one
    one = changed()
    one["certificate"]["problem"]["per_person"] = "one"
    one["certificate"]["claim"]["adjacency"] = "replace-one-person"
    yield one


def test_a_condition_belongs_to_foreign_scores_alone():
    linear = json.loads(PrivateRanker(**COMMON, positive_label=True).fit(X, Y).model_)
    foreign = json.loads(fitted(Hidden()).model_)
    linear["certificate"]["condition"] = foreign["certificate"]["condition"]
    assert not verification.verify(linear).relations_hold
    assert any(failure for _, _, failure in _core.Model(json.dumps(linear)).verify())


def test_a_model_is_saved_and_scored_with_its_function(tmp_path, capsys):
    score = Hidden()
    ranker = fitted(score)
    ranker.save(tmp_path / "model.json")
    expected = score.scores(np.array(json.loads(ranker.model_)["predictor"]["parameters"]), ranker.encode(X))
    assert np.array_equal(ranker.decision_function(X), expected)
    again = PrivateRanker.load(tmp_path / "model.json", scores=Hidden())
    assert np.array_equal(again.decision_function(X), expected)
    # What its noise makes of a model is not for a test to promise; that its area is that of its scores is.
    above = expected[Y][:, None] - expected[~Y][None, :]
    assert again.score(X, Y) == pytest.approx(np.mean((above > 0.0) + 0.5 * (above == 0.0)), abs=1e-12)
    with pytest.raises(ValueError, match="say scores="):
        PrivateRanker.load(tmp_path / "model.json").decision_function(X)
    with pytest.raises(ValueError, match="parameters"):
        PrivateRanker.load(tmp_path / "model.json", scores=Hidden(hidden=3)).decision_function(X)
    for call in (
        lambda: ranker.to_onnx(tmp_path / "model.onnx"),
        lambda: evaluate(ranker, X, Y, epsilon=1.0, delta=1e-6),
    ):
        with pytest.raises(ValueError, match="function in Python"):
            call()
    path = str(tmp_path / "model.json")
    assert verification.main([path]) == 1
    assert "yes, if the clip was as stated" in capsys.readouterr().out
    assert verification.main([path, "--accept-foreign"]) == 0


def test_what_has_no_proof_is_refused():
    def ranker(**more):
        return PrivateRanker(**COMMON, positive_label=True, scores=Hidden(), **more)

    for refused, arguments, words in (
        (ranker(max_records=1000), {}, "secret number"),
        (ranker(), {"groups": np.arange(len(Y))}, "persons"),
        (ranker(loss="squared"), {}, "no Lipschitz constant"),
        (ranker(algorithm="moments"), {}, "no proved sensitivity"),
        (ranker(domain="ball", radius=1.0), {}, "whole space"),
        (ranker(intercept=True), {}, "intercept"),
        (ranker(hidden=3), {}, "hidden units"),
        (ranker(probabilities=True), {}, "probabilities"),
        (ranker(calibration="literal", paper="kang"), {}, "paper's noise"),
        (ranker(gradient_bound=0.0), {}, "bound on gradients"),
    ):
        with pytest.raises(ValueError, match=words):
            refused.fit(X, Y, **arguments)
    with pytest.raises(ValueError, match="regression"):
        PrivateRegressor(**COMMON, target_bounds=(-1, 1), scores=Hidden()).fit(X, X[:, 0])
    times = np.rec.fromarrays([np.ones(len(Y), dtype=bool), 1.0 + Y], names=["event", "time"])
    with pytest.raises(ValueError, match="order of time"):
        PrivateSurvivalRanker(**COMMON, horizon=5.0, scores=Hidden()).fit(X, times)
    with pytest.raises(ValueError, match="one place"):
        ranker().fit_partitions("parts", "schema.toml")
    with pytest.raises(ValueError, match="bounds on gradients"):
        PrivateRanker(**COMMON, positive_label=True, gradient_bound=1.0, algorithm="noisy-gd").fit(X, Y)


class Faulty(Hidden):
    """Fails in a way that is named."""

    def __init__(self, fault):
        super().__init__()
        self.fault = fault

    def initial(self, seed):
        return np.zeros(3) if self.fault == "start" else super().initial(seed)

    def scores(self, w, X):
        if self.fault == "shape":
            return super().scores(w, X)[:-1]
        if self.fault == "content" and np.abs(X).max() > 0.0:
            raise RuntimeError(f"cannot take {X[0]}")
        return super().scores(w, X)

    def weighted_clipped_gradient(self, w, X, charges, bound):
        found = super().weighted_clipped_gradient(w, X, charges, bound)
        if self.fault == "infinite" and np.abs(X).max() > 0.0:
            found[0] = np.inf
        return found


def test_shapes_are_refused_before_records_are_shown_and_failures_tell_nothing_of_them():
    for fault, words in (("start", "rows of 3 zeros"), ("shape", "256 numbers, not 257")):
        with pytest.raises(ValueError, match=words):
            fitted(Faulty(fault))
    for fault, words in (("content", "failed on the records"), ("infinite", "not finite")):
        with pytest.raises(ValueError, match=words) as refused:
            fitted(Faulty(fault))
        assert "claims nothing" in str(refused.value) and "cannot take" not in str(refused.value)
        assert not any(f"{abs(value):.3f}"[:5] in str(refused.value) for value in X[0])


class BatchStatistic(Hidden):
    """Centres each block, as batch normalisation does."""

    def block_scores(self, w, X):
        return super().block_scores(w, X - X.mean(axis=0))


class BatchGradient(Hidden):
    """Centres each block for gradients alone."""

    def block_gradients(self, w, X):
        return super().block_gradients(w, X - X.mean(axis=0))


class NoClip(Hidden):
    def weighted_clipped_gradient(self, w, X, charges, bound):
        return super().weighted_clipped_gradient(w, X, charges, 1e300)


class ClippedTogether(Hidden):
    """Clips the sum, and not what it is the sum of."""

    def weighted_clipped_gradient(self, w, X, charges, bound):
        found = super().weighted_clipped_gradient(w, X, charges, 1e300)
        return found * min(1.0, bound / max(np.linalg.norm(found), 1e-300))


class Squared(Hidden):
    """Takes charges for weights."""

    def weighted_clipped_gradient(self, w, X, charges, bound):
        return super().weighted_clipped_gradient(w, X, np.abs(charges), bound)


@pytest.mark.parametrize(
    ("score", "words"),
    [
        (BatchStatistic(), "the score of row"),
        (BatchGradient(), "the gradient of row"),
        (NoClip(), "the bound is"),
        (ClippedTogether(), "the sum"),
        (Squared(), "sums in charges"),
    ],
)
def test_common_faults_are_found(score, words):
    found = check(score, X)
    assert not found.holds and any(words in failure for failure in found.failures), found.failures


class Remembers(Hidden):
    """Turns gradients by what it saw when it scored the table."""

    side = 1.0

    def scores(self, w, X):
        self.side = math.copysign(1.0, X.sum())
        return super().scores(w, X)

    def block_gradients(self, w, X):
        return super().block_gradients(w, X) * self.side


class CentresLongTables(Hidden):
    """Keeps to its part in short tables alone."""

    def scores(self, w, X):
        return super().scores(w, X - X.mean(axis=0) if len(X) > 2 * BLOCK else X)


def test_what_is_remembered_and_what_only_long_tables_meet_is_found():
    found = check(Remembers(), X)
    assert any("the gradient of row" in failure for failure in found.failures), found.failures
    found = check(CentresLongTables(), X)
    assert any("rows of the whole table" in failure for failure in found.failures), found.failures


def test_names_that_nobody_could_read_are_refused_before_anything_is_paid():
    many, lines, long = Hidden(), Hidden(), Hidden()
    many.packages = tuple(f"package{number}" for number in range(120))
    lines.function = type("yes", (), {"__module__": "m", "__qualname__": "f\nyes: private"})
    long.function = type("long", (), {"__module__": "m", "__qualname__": "ε" * 900})
    for score in (many, lines):
        with pytest.raises(ValueError, match="on one line, and of at most 100 packages"):
            fitted(score)
    # What is too long is cut to the bytes that readers allow.
    assert fitted(long).verify(accept_foreign=True)
    model = json.loads(fitted(Hidden()).model_)
    model["certificate"]["condition"]["function"]["name"] = "f\nyes: from its public facts this model is private"
    assert not verification.verify(model).relations_hold
    with pytest.raises(ValueError, match="condition"):
        _core.Model(json.dumps(model)).verify()


def test_a_model_for_another_function_warns(tmp_path):
    fitted(Hidden()).save(tmp_path / "model.json")
    with pytest.warns(PrivacyPlanWarning, match="the certificate is about the function"):
        PrivateRanker.load(tmp_path / "model.json", scores=Remembers())


def test_steps_that_would_run_away_are_refused_or_leave_the_start():
    for scores in (Hidden(), "network"):
        with pytest.raises(ValueError, match="the ridge times the step size"):
            PrivateRanker(**COMMON, positive_label=True, scores=scores, steps=5, step_size=1.0, ridge=2.0).fit(X, Y)
    ranker = PrivateRanker(**COMMON, positive_label=True, scores=Hidden(), steps=3, step_size=1e308).fit(X, Y)
    assert np.isfinite(json.loads(ranker.model_)["predictor"]["parameters"]).all()
    assert ranker.verify(accept_foreign=True)


def test_nothing_is_found_where_nothing_is_wrong():
    assert isinstance(Hidden(), Score)
    for bound in (1.0, 0.01):
        found = check(Hidden(), X, bound=bound)
        assert found.holds and len(found.looked_at) == 15, found.failures


def test_jax_functions_are_scores_in_both_precisions():
    jnp = pytest.importorskip("jax.numpy")

    def network(params, x):
        return params["out"] @ jnp.tanh(params["in"] @ x)

    def start(seed):
        random = np.random.default_rng(seed)
        return {"in": random.normal(size=(4, 3)).astype(kind), "out": np.zeros(4, dtype=kind)}

    for kind in (np.float32, np.float64):
        score = JaxScore(network, start)
        assert score.parameters == 16 and score.double is (kind == np.float64)
        assert check(score, X).holds, check(score, X).failures
        assert not np.array_equal(score.initial(1), score.initial(2))
        ranker = fitted(score, start_seed=2)
        assert ranker.verify(accept_foreign=True)
        condition = ranker.certificate_["condition"]
        assert "jax" in condition["packages"] and condition["function"]["name"].endswith("network")
        assert ranker.certificate_["problem"]["score"]["foreign"]["seed"] == 2
        copied = copy.deepcopy(score)
        assert np.array_equal(copied.scores(score.initial(1), X), score.scores(score.initial(1), X))
        assert set(score.unravel(score.initial(1))) == {"in", "out"}


def test_jax_batch_statistics_are_found():
    jnp = pytest.importorskip("jax.numpy")

    class Normalised(JaxScore):
        def block_scores(self, w, X):
            return super().block_scores(w, (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-9))

    score = Normalised(lambda w, x: jnp.tanh(w @ x), np.ones(3))
    assert any("the score of row" in failure for failure in check(score, X).failures)


def test_torch_modules_are_scores():
    torch = pytest.importorskip("torch")
    nn = torch.nn
    module = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Tanh(), nn.Linear(4, 1)).double()
    score = TorchScore(module)
    assert check(score, X).holds, check(score, X).failures
    rows = torch.tensor(X[:5])
    assert np.allclose(score.scores(score.initial(1), X[:5]), module(rows).detach().numpy().ravel(), atol=1e-12)
    assert fitted(score).verify(accept_foreign=True)
    with pytest.raises(ValueError, match="mixes rows"):
        TorchScore(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1)))
    with pytest.raises(ValueError, match="at random"):
        TorchScore(nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 1)))
    assert TorchScore(nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 1)).eval()).parameters == 21


def test_packages_that_are_not_there_are_named():
    with pytest.raises(ImportError, match="pip install no_such_package"):
        imported("no_such_package")


@pytest.mark.skipif(not (ROOT / "README.md").exists(), reason="the repository is not around the tests")
def test_the_guide_to_networks_of_your_own_runs_as_printed(capsys):
    pytest.importorskip("jax")
    run(Path(ROOT) / "docs" / "own_networks.md")
    failures, area, verified, linear = capsys.readouterr().out.splitlines()
    assert (failures, verified, linear) == ("[]", "False True", "True") and float(area) > 0.9
