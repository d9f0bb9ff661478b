"""Plots, with matplotlib if it is installed.

Every function draws on ``ax``, or on new axes, and returns the axes. Curves are as exact as what they are given: plots
of private records are not protected.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import accounting

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["privacy_utility", "roc", "shapes", "trade_off"]

# Between these percentiles lies the band that noise leaves.
BAND = (10, 90)


def privacy_utility(
    epsilons: ArrayLike, scores: ArrayLike, *, without_privacy: float | None = None, ax: Axes | None = None
) -> Axes:
    """Draw what a model is worth at each epsilon, with the band in which noise lets it fall.

    Parameters
    ----------
    epsilons : array-like of shape (n_epsilons,)
    scores : array-like of shape (n_epsilons, n_models)
        Scores of several models at each epsilon, trained and measured on public or simulated data.
    without_privacy : float, optional
        The score of the model from :mod:`pairdp.baseline`.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    epsilons, scores = np.asarray(epsilons, dtype=np.float64), np.asarray(scores, dtype=np.float64)
    if epsilons.ndim != 1 or scores.ndim != 2 or len(scores) != len(epsilons):
        raise ValueError("scores must have one row of models for each of the epsilons")
    ax = _axes(ax)
    _band(ax, epsilons, scores.T, "private")
    if without_privacy is not None:
        ax.axhline(without_privacy, linestyle="--", color="black", label="without privacy")
    ax.set(xscale="log", xlabel="ε", ylabel="score")
    ax.legend()
    return ax


def trade_off(
    *,
    noise_multiplier: float,
    records: int,
    batch: int | None = None,
    steps: int = 1,
    points: int = 101,
    ax: Axes | None = None,
) -> Axes:
    """Draw how well anybody could tell two neighbouring tables apart.

    Below the curve is nobody: a test that wrongly suspects a record with one probability misses it with at least the
    other. The diagonal is what guessing gives.

    Parameters
    ----------
    noise_multiplier, records, batch, steps
        As in :mod:`pairdp.accounting`.
    points : int, default=101
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    rates = np.linspace(0.0, 1.0, points)
    misses = accounting.trade_off(rates, noise_multiplier=noise_multiplier, records=records, batch=batch, steps=steps)
    ax = _axes(ax)
    ax.plot(rates, misses, label=f"noise multiplier {noise_multiplier:g}")
    ax.plot([0, 1], [1, 0], linestyle=":", color="grey", label="guessing")
    ax.set(xlabel="false positives", ylabel="false negatives, at least", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    ax.legend()
    return ax


def roc(
    y: ArrayLike, scores: ArrayLike | Sequence[ArrayLike], *, positive_label: Any = 1, ax: Axes | None = None
) -> Axes:
    """Draw the ROC curve of a model, or the middle and the band of several that differ by their noise.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
    scores : array-like of shape (n_samples,) or (n_models, n_samples)
        What ``decision_function`` returned.
    positive_label : default=1
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    from sklearn.metrics import roc_auc_score, roc_curve

    positive = np.asarray(y) == positive_label
    models = np.atleast_2d(np.asarray(scores, dtype=np.float64))
    rates = np.linspace(0.0, 1.0, 201)
    curves, areas = [], []
    for model in models:
        false_positives, true_positives, _ = roc_curve(positive, model)
        curves.append(np.interp(rates, false_positives, true_positives))
        areas.append(roc_auc_score(positive, model))
    ax = _axes(ax)
    _band(ax, rates, np.array(curves), f"AUC {np.median(areas):.3f}")
    ax.plot([0, 1], [0, 1], linestyle=":", color="grey", label="chance")
    ax.set(xlabel="false positives", ylabel="true positives", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    ax.legend()
    return ax


def shapes(model: Any, *, columns: int | Sequence[str] = 6) -> list[Axes]:
    """Draw what each column adds to a score, with a band of two standard deviations of the noise where that is known.

    Parameters
    ----------
    model : fitted estimator with a score
    columns : int or sequence of str, default=6
        How many columns, those that move the score most, or which.

    Returns
    -------
    list of matplotlib Axes
        One for each column.
    """
    found = model.shapes()
    if isinstance(columns, int):
        found = found[:columns]
    else:
        by_name = {shape["column"]: shape for shape in found}
        missing = [name for name in columns if name not in by_name]
        if missing:
            raise ValueError(f"the model has no column {missing[0]!r}")
        found = [by_name[name] for name in columns]
    drawn = []
    for shape in found:
        ax, adds = _axes(None), np.array(shape["adds"])
        if isinstance(shape["cells"][0], str):
            ax.barh(shape["cells"], adds)
            ax.set(xlabel="added to the score", title=shape["column"])
        else:
            # Dates are given as dates.
            unit = None if isinstance(shape["cells"][0], float | int) else "datetime64[D]"
            cells = np.array(shape["cells"], dtype=unit)
            ax.plot(cells, adds)
            if shape["noise"] is not None:
                around = 2 * np.array(shape["noise"])
                ax.fill_between(cells, adds - around, adds + around, alpha=0.25, label="± 2 deviations of the noise")
            if shape["missing"] is not None:
                ax.axhline(shape["missing"]["adds"], linestyle="--", color="black", label="empty cell")
            if shape["noise"] is not None or shape["missing"] is not None:
                ax.legend()
            if shape["quantiles"] is not None:
                low, *_, high = np.array(shape["quantiles"], dtype=unit)
                margin = max(high - low, (cells[-1] - cells[0]) / 20)
                ax.set_xlim(max(cells[0], low - margin), min(cells[-1], high + margin))
            ax.set(xlabel=shape["column"], ylabel="added to the score")
        drawn.append(ax)
    return drawn


def _band(ax: Axes, x: NDArray[np.float64], curves: NDArray[np.float64], label: str) -> None:
    """Draw the middle of curves and, if there are several, the band around it."""
    (line,) = ax.plot(x, np.median(curves, axis=0), label=label)
    if len(curves) > 1:
        low, high = np.percentile(curves, BAND, axis=0)
        share = f"{BAND[1] - BAND[0]} % of {len(curves)} models"
        ax.fill_between(x, low, high, alpha=0.25, color=line.get_color(), label=share)


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plots need matplotlib: pip install matplotlib") from None
    new: Axes = pyplot.figure().add_subplot()
    return new
