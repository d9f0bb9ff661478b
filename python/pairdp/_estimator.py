"""The estimators' common parameters: of all, of private ones, of linear scores, and of those without privacy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._fitting import Fitting, Trainer
from ._guarantee import Guarantee
from ._parameters import Bounds, estimator, parameter, ranges_of, required


@estimator
class Estimator(Fitting):
    """What is said to every estimator, private or not."""

    bounds: Bounds | None = required(
        kind="pair of floats or of arrays",
        text="Public lower and upper bounds of the features, ``(low, high)``, or a list of such a pair for each of them. Values beyond them are cut off. Take them from "
        "public knowledge; bounds computed from the data would leak it.",
    )
    schema: Any = parameter(
        default=None,
        kind="path-like, dict or Schema",
        text="What is publicly known about the columns of a data frame and the label, in place of ``bounds`` and the labels' values: "
        "ranges, categories, and what empty cells count as. Columns are found by name, and others are not looked at.",
    )
    loss: str | None = parameter(
        default=None,
        text="The loss of a pair of records, or of a record; by default logistic, and squared for regression.",
    )
    ridge: float = parameter(
        default=0.0, text="Half this times the squared norm of the parameters is added to the risk."
    )
    feature_bound: float | None = parameter(
        default=None,
        text="Features are mapped to [-1, 1] by the bounds, and rows longer than this are scaled down to it. By default chosen "
        "from the number of features.",
    )
    domain: str | None = parameter(
        default=None,
        text="Which parameters are allowed: those within ``radius``, any, or for metrics a set of matrices within it. By default a ball, or for metrics chosen from "
        "public facts.",
    )
    radius: float | None = parameter(
        default=None,
        text="How long the vector of parameters may be; by default chosen from the task and the loss.",
    )
    steps: int | None = parameter(default=None, text="Steps to take; by default chosen from public facts.")
    step_size: float | None = parameter(default=None, text="How long a step is; by default chosen from public facts.")
    average: str | None = parameter(
        default=None, text="Which iterates become the model; by default chosen by the algorithm."
    )


@estimator
class Linear:
    """What is said to estimators whose scores are linear."""

    q: float = parameter(default=1.5, text="Exponent of the q-hinge and q-norm losses, between 1 and 2.")
    intercept: bool | None = parameter(
        default=None,
        text="Whether a constant is learned that is added to every score. By default it is where the loss is of single records; "
        "pairs do not see one.",
    )
    representation: str | None = parameter(
        default=None,
        text="How columns become numbers to learn from: by the bounds, or by ranks, from where columns lie, which private "
        "estimators learn by a first release. By default ranks where the algorithm, or without privacy the feature bound, is left "
        "open, else by the bounds.",
    )


@estimator
class PrivateEstimator(Guarantee, Estimator):
    """What is said to every private estimator."""

    epsilon: float | None = required(
        kind="float",
        text="The privacy budget of one call of ``fit``. It has no usable default: how much privacy to give up is a decision.",
    )
    delta: float | None = required(
        kind="float", text="The other part of the budget: well below 1 / number of records, or 0 for pure epsilon."
    )
    algorithm: str = parameter(
        default="auto",
        text='How: noise in gradients, on results, or on moments. ``"auto"`` chooses from public facts: the number of records and '
        "features, and the budget.",
    )
    mechanism: str = parameter(default="auto", text='The noise; ``"auto"`` takes the quietest.')
    momentum: float | None = parameter(
        default=None,
        text="How much of the last step a step repeats, from 0 to below 1; by default 0.9 where columns are ranks, else 0.",
    )
    expected_pairs: float | None = parameter(
        default=None,
        text='For ``"noisy-sgd"``: keep every pair secretly and independently, so many a step in the mean. By default one secret '
        "uniform pair a step.",
    )
    order: str = parameter(
        default="reshuffled",
        text="In which public order algorithms that go from record to record take them: drawn at every step, once, or anew each round.",
    )
    order_seed: int | None = parameter(
        default=None,
        text="The public seed of the order, which the certificate names and which never reaches the noise; by default drawn afresh.",
    )
    max_records: int | None = parameter(
        default=None,
        text="The number of records is secret, and at most this: the guarantee is for adding or removing a record instead of "
        'replacing it, and records beyond do not count. For ``"noisy-gd"`` and ``"moments"``.',
    )
    promised: bool = parameter(
        default=False,
        text="There are never more records than ``max_records`` says: no record is pushed out by another, which takes less noise. "
        "A table that has more is refused, and that refusal is not covered by any guarantee. With a ledger the promise belongs "
        "to the data set.",
    )
    unit: str | None = parameter(
        default=None,
        kind='{"record", "person"}',
        text="Whom the guarantee protects: a record, or a person with all records, where ``fit`` is told whose they are. By default "
        'persons if it is. ``"person"`` refuses to fit without ``groups``, so that a pipeline that does not pass them on cannot '
        "protect less than is meant.",
    )
    max_persons: int | None = parameter(
        default=None,
        kind="int",
        text="As ``max_records``, for persons: how many there are is secret, and at most this.",
    )
    per_person: str | None = parameter(
        default=None,
        text="How the records of a person enter: all of them, with weights that add up to 1, or one, drawn in secret. By default "
        "weights where noise is added to sums over the whole table, otherwise one.",
    )
    calibration: str = parameter(
        default="certified",
        text="Proved noise, or a paper's printed formula, with what it really gives in the certificate.",
    )
    paper: str | None = parameter(default=None, text="The paper whose formula is taken, where more than one has one.")


@estimator
class PrivateLinear(PrivateEstimator):
    """What is said to private estimators whose scores are linear."""

    representation_share: float | None = parameter(
        default=None,
        text="The share of the budget for where columns lie; by default 0.3, and 0.1 for networks and random features.",
    )
    scores: Any = parameter(
        default=None,
        kind='{"linear", "network", "random-features"} or Score',
        text="What is compared: a weighted sum of columns, or beside it one hidden layer or waves along random directions, for tables of some "
        '100,000 records and more. By default linear. A network is trained by ``"noisy-gd"`` alone; neither has coefficients. Rankers and '
        "classifiers take functions of your own, too: see :mod:`pairdp.scores`.",
    )
    hidden: int | None = parameter(
        default=None,
        text="Hidden units of a network, by default 64; or how many random features there are, by default 800.",
    )
    linear_share: float | None = parameter(
        default=None,
        text="What the linear term has beside hidden units or random features, between 0 and 1; by default chosen from public facts.",
    )
    start_seed: int | None = parameter(
        default=None,
        text="The public seed of a network's first weights or of random directions, which the model names and which never reaches the noise; by "
        "default 1.",
    )
    gradient_bound: float | None = parameter(
        default=None,
        text="For a score of your own: how long the gradient of a record's score may be; longer ones are scaled down. By default 1.",
    )


@estimator
class PrivateScores(PrivateLinear):
    """What is said to private estimators whose scores tell two classes apart."""

    probabilities: bool | None = parameter(
        default=None,
        text="Whether labels are counted by cells of the score, with noise and a tenth of the budget, so that there are "
        "``predict_proba``, ``flag`` and ``threshold``. By default classifiers do where the algorithm is left open and noise leaves "
        'enough of the counts, and rankers do not. For ``"noisy-gd"`` and ``"moments"``.',
    )


@estimator
class BaselineEstimator(Estimator):
    """Descends over all pairs, or records, without noise."""

    _certified = False

    def _trainer(self) -> Trainer:
        return _core.fit_baseline

    def _ranges(self, rows: NDArray[np.float64]) -> list[list[float]]:
        if self.bounds is not None:
            return ranges_of(self.bounds, rows.shape[1])
        low, high = rows.min(axis=0), rows.max(axis=0)
        # A constant column needs a range, too.
        return ranges_of((low, np.where(high > low, high, low + np.maximum(1.0, np.abs(low)))), rows.shape[1])
