import numpy as np
from numpy.typing import NDArray

__version__: str

def fit_ranker(
    rows: NDArray[np.float64],
    positive: NDArray[np.bool_],
    ranges: list[list[float]],
    *,
    epsilon: float,
    delta: float,
    algorithm: str,
    loss: str,
    q: float,
    ridge: float,
    feature_bound: float,
    radius: float,
    steps: int | None,
    step_size: float | None,
) -> str: ...
def score_rows(model: str, rows: NDArray[np.float64]) -> NDArray[np.float64]: ...
def verify_model(model: str) -> list[tuple[str, str, str | None]]: ...
def auc(scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> float | None: ...
def epsilon(
    records: int, batch: int | None, steps: int, noise_multiplier: float, delta: float
) -> tuple[float, float, str]: ...
def noise_multiplier(records: int, batch: int | None, steps: int, epsilon: float, delta: float) -> float: ...
def trade_off(
    records: int, batch: int | None, steps: int, noise_multiplier: float, false_positives: list[float]
) -> list[float]: ...
