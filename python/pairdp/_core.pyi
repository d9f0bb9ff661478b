import numpy as np
from numpy.typing import NDArray

__version__: str

def fit(
    rows: NDArray[np.float64],
    targets: NDArray[np.float64],
    ranges: list[list[float]],
    settings: str,
    epsilon: float,
    delta: float,
) -> str: ...
def fit_baseline(
    rows: NDArray[np.float64],
    targets: NDArray[np.float64],
    ranges: list[list[float]],
    settings: str,
) -> str: ...
def plan(records: int, features: int, settings: str, epsilon: float, delta: float) -> str: ...
def explain_plan(records: int, features: int, settings: str, epsilon: float, delta: float) -> str: ...
def audit(
    records: int,
    features: int,
    settings: str,
    epsilon: float,
    delta: float,
    runs: int,
    confidence: float,
    pair: str,
    view: str,
) -> str: ...
def embed_rows(model: str, rows: NDArray[np.float64]) -> NDArray[np.float64]: ...
def score_rows(model: str, rows: NDArray[np.float64]) -> NDArray[np.float64]: ...
def to_onnx(model: str) -> bytes: ...
def verify_model(model: str) -> list[tuple[str, str, str | None]]: ...
def auc(scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> float | None: ...
def epsilon(
    records: int, batch: int | None, steps: int, noise_multiplier: float, delta: float
) -> tuple[float, float, str]: ...
def noise_multiplier(records: int, batch: int | None, steps: int, epsilon: float, delta: float) -> float: ...
def trade_off(
    records: int, batch: int | None, steps: int, noise_multiplier: float, false_positives: list[float]
) -> list[float]: ...
