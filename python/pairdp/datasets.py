"""Data to try things on, with the public facts that estimators need.

Nothing here is private: simulated people, and published data sets. Bounds are round numbers from the published
descriptions, wide enough for every record, as one would know them without the table.

Examples
--------
>>> from pairdp import PrivateRanker, datasets
>>> stays = datasets.simulate_cohort(3000, seed=1)
>>> ranker = PrivateRanker(epsilon=1.0, delta=1e-6, bounds=stays.bounds).fit(stays.X, stays.y)
>>> ranker.score(stays.X, stays.y) > 0.7
True
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._parameters import ranges_of

__all__ = ["Dataset", "fetch_openml", "load_breast_cancer", "load_diabetes", "simulate_cohort"]


@dataclass(frozen=True)
class Dataset:
    """A table, and what is publicly known about it."""

    X: NDArray[np.float64]
    """Features, of shape (n_samples, n_features)."""
    y: NDArray[Any]
    """Labels or targets, of shape (n_samples,)."""
    feature_names: list[str]
    bounds: tuple[NDArray[np.float64], NDArray[np.float64]]
    """Public ``(low, high)`` of every feature."""
    classes: list[Any] | None = None
    """Every possible label; for two of them the positive one comes last. ``None`` if the target is a number."""
    target_bounds: tuple[float, float] | None = None
    """Public range of a target that is a number."""
    risks: NDArray[np.float64] | None = None
    """The true probability of a positive label, which only simulations know. No score ranks better."""


# Of the columns of a simulated stay: clinical ranges, or categories.
RANGES = {
    "age": (20.0, 95.0),
    "bmi": (16.0, 42.0),
    "systolic_bp": (90.0, 190.0),
    "glucose": (60.0, 260.0),
    "creatinine": (0.4, 3.0),
    "prior_visits": (0.0, 8.0),
}
CATEGORIES = {
    "sex": ("female", "male"),
    "smoker": ("never", "former", "current"),
    "admission": ("elective", "urgent", "emergency"),
}


def simulate_cohort(n_records: int, *, seed: int = 0) -> Dataset:
    """Simulate hospital stays, of which a few are followed by a readmission: label 1.

    Categories are columns of zeros and ones. The command ``pairdp demo`` trains on the same population.

    Parameters
    ----------
    n_records : int
    seed : int, default=0
        The same seed gives the same stays.

    Returns
    -------
    Dataset
        With ``risks``.
    """
    text, risks = _core.simulate(n_records, seed)
    columns: dict[str, list[str]] = {}
    for row in csv.DictReader(io.StringIO(text)):
        for name, cell in row.items():
            columns.setdefault(name, []).append(cell)
    names, features, ranges = [], [], []
    for name, cells in columns.items():
        if name in RANGES:
            names.append(name)
            features.append(np.array(cells, dtype=np.float64))
            ranges.append(RANGES[name])
        for category in CATEGORIES.get(name, ()):
            names.append(f"{name}={category}")
            features.append(np.array([cell == category for cell in cells], dtype=np.float64))
            ranges.append((0.0, 1.0))
    low, high = np.array(ranges).T
    return Dataset(
        X=np.column_stack(features),
        y=np.array([label == "yes" for label in columns["readmitted"]], dtype=np.int64),
        feature_names=names,
        bounds=(low, high),
        classes=[0, 1],
        risks=np.array(risks),
    )


# Of ten measures of cell nuclei: the largest mean, standard error and worst value that one would expect.
NUCLEI = (
    (30, 3, 40),
    (40, 5, 50),
    (200, 25, 260),
    (2600, 550, 4300),
    (0.2, 0.04, 0.25),
    (0.4, 0.15, 1.1),
    (0.5, 0.4, 1.3),
    (0.25, 0.06, 0.3),
    (0.4, 0.08, 0.7),
    (0.1, 0.03, 0.21),
)


def load_breast_cancer() -> Dataset:
    """Load the Wisconsin data on breast cancer (569 records, 30 features) that scikit-learn brings; 1 is malignant."""
    from sklearn import datasets

    bunch = datasets.load_breast_cancer()
    high = np.array(NUCLEI, dtype=np.float64).T.ravel()
    return Dataset(
        X=bunch.data,
        # There 0 is malignant; here the label to find is the positive one.
        y=1 - bunch.target,
        feature_names=[str(name) for name in bunch.feature_names],
        bounds=(np.zeros(30), high),
        classes=[0, 1],
    )


# Age, sex, body mass, blood pressure and six measures of blood serum.
DIABETES = ((18, 80), (1, 2), (15, 45), (60, 140), (90, 310), (40, 250), (20, 100), (2, 10), (3, 6.5), (50, 130))


def load_diabetes() -> Dataset:
    """Load the diabetes data (442 records, 10 features in their own units) that scikit-learn brings."""
    from sklearn import datasets

    bunch = datasets.load_diabetes(scaled=False)
    low, high = np.array(DIABETES, dtype=np.float64).T
    return Dataset(
        X=bunch.data,
        y=bunch.target,
        feature_names=[str(name) for name in bunch.feature_names],
        bounds=(low, high),
        target_bounds=(0.0, 350.0),
    )


def fetch_openml(
    name: str,
    *,
    bounds: tuple[ArrayLike, ArrayLike],
    version: int | str = "active",
    classes: list[Any] | None = None,
    target_bounds: tuple[float, float] | None = None,
    **options: Any,
) -> Dataset:
    """Fetch a table of numbers from OpenML, over the network, and join the public facts that you state.

    Parameters
    ----------
    name : str
    bounds : pair of numbers or of arrays
        Public ``(low, high)`` of the features; they are never read from the table.
    version : int or "active"
    classes : list, optional
        Every possible label.
    target_bounds : pair of floats, optional
        The range of a target that is a number.
    **options
        For :func:`sklearn.datasets.fetch_openml`.

    Returns
    -------
    Dataset
    """
    from sklearn import datasets

    bunch = datasets.fetch_openml(name, version=version, as_frame=False, parser="liac-arff", **options)
    X = np.ascontiguousarray(bunch.data, dtype=np.float64)
    low, high = np.array(ranges_of(bounds, X.shape[1])).T
    return Dataset(
        X=X,
        y=np.asarray(bunch.target),
        feature_names=[str(name) for name in bunch.feature_names],
        bounds=(low, high),
        classes=classes,
        target_bounds=target_bounds,
    )
