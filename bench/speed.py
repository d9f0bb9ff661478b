"""CPU time and memory of one fit of 100,000 × 50: `speed.py moments | ours | diffprivlib | opacus | ceiling --splits DIR`.

Memory is the peak of the whole process with all that it imports, and what the fit adds to what was held before it.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np

from racing import cut, emit, sets, timed, versions

warnings.simplefilter("ignore")


def ours(X: np.ndarray, y: np.ndarray):
    from pairdp import PrivateRanker

    ranker = PrivateRanker(epsilon=1.0, delta=1e-10, bounds=(-1, 1))
    return lambda: ranker.fit(X, y)


def moments(X: np.ndarray, y: np.ndarray):
    from pairdp import PrivateRanker

    ranker = PrivateRanker(epsilon=1.0, delta=1e-10, bounds=(-1, 1), algorithm="moments")
    return lambda: ranker.fit(X, y)


def diffprivlib(X: np.ndarray, y: np.ndarray):
    from diffprivlib.models import LogisticRegression

    model, X = LogisticRegression(epsilon=1.0, data_norm=1.0), cut(X, 1.0)
    return lambda: model.fit(X, y)


def ceiling(X: np.ndarray, y: np.ndarray):
    from sklearn.linear_model import LogisticRegression

    return lambda: LogisticRegression().fit(X, y)


def opacus(X: np.ndarray, y: np.ndarray):
    import torch
    from opacus import PrivacyEngine
    from torch.utils.data import DataLoader, TensorDataset

    torch.set_num_threads(1)
    model, loss = torch.nn.Linear(X.shape[1], 1), torch.nn.BCEWithLogitsLoss()
    rows, labels = (torch.tensor(values, dtype=torch.float32) for values in (cut(X, 1.0), y))
    model, optimizer, loader = PrivacyEngine().make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.5),
        data_loader=DataLoader(TensorDataset(rows, labels), batch_size=256),
        noise_multiplier=1.0,
        max_grad_norm=1.0,
    )

    def epoch() -> None:
        for batch, targets in loader:
            if len(batch):
                optimizer.zero_grad()
                loss(model(batch).squeeze(-1), targets).backward()
                optimizer.step()

    return epoch


def megabytes(name: str) -> float:
    """Return what Linux says about this process's memory: VmRSS now, VmHWM at most."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1000


# What contenders are called, and whose versions matter.
NAMES = {
    "moments": ("pairdp, one release", ["pairdp"]),
    "ours": ("pairdp, auto", ["pairdp"]),
    "diffprivlib": ("diffprivlib", ["diffprivlib", "scikit-learn"]),
    "opacus": ("Opacus, one epoch", ["opacus", "torch"]),
    "ceiling": ("scikit-learn, not private", ["scikit-learn"]),
}
name, packages = NAMES[sys.argv[1]]
versions(*packages)
data = next(data for data in sets("ranking") if data.name == "hundred-thousand")
split = next(data.splits())
fit = globals()[sys.argv[1]](split.X, split.y)
# Writing 5 resets the peak to what is held now.
Path("/proc/self/clear_refs").write_text("5")
held = megabytes("VmRSS")
first = timed(fit)
peak = megabytes("VmHWM")
seconds = min(first.seconds, timed(fit, 2).seconds)
emit(job="speed", contender=name, seconds=seconds, peak=peak, added=(peak - held) * 1e6 / split.X.nbytes)
