"""AUC on splits that all contenders share: `training.py ours | diffprivlib | opacus | dp-ebm | ceiling --splits DIR`.

Peers run with settings one would start from, and with the best of a few, which is chosen by the AUC on the test part and so
flatters them. Rows lie in [-1, 1] by public ranges, and are cut to norm 1 or divided by half the root of their number first.
"""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from racing import Set, Split, auc, cut, emit, mean_and_error, option, sets, versions

warnings.simplefilter("ignore")
# A way to train: rows to train on with their labels and rows to score in, scores out.
Fit = Callable[[Split], np.ndarray]


def cut_to_one(split: Split) -> Split:
    return split._replace(X=cut(split.X, 1.0), X_test=cut(split.X_test, 1.0))


def divided(split: Split) -> Split:
    bound = math.sqrt(split.X.shape[1]) / 2
    return split._replace(X=cut(split.X, bound), X_test=cut(split.X_test, bound))


def measure(data: Set, epsilon: float | None, contender: str, settings: list[Fit]) -> None:
    """Report the first settings, and the best in hindsight."""
    found = [[] for _ in settings]
    for split in data.splits():
        for fit, values in zip(settings, found, strict=True):
            values.append(auc(fit(split), split.y_test))
    best = max(found, key=lambda values: float(np.mean(values)))
    line = {"job": "training", "set": data.name, "ranges": data.ranges, "records": data.train, "epsilon": epsilon}
    emit(**line, contender=contender, **mean_and_error(found[0]), values=found[0])
    if len(settings) > 1:
        emit(**line, contender=f"{contender}, best of {len(settings)}", **mean_and_error(best), values=best)


def half(epsilon: float, delta: float) -> tuple[float, float]:
    """Halve a budget for replacing a record: that is to remove and then to add, which costs (2ε, (1 + exp ε)δ)."""
    return epsilon / 2, delta / (1 + math.exp(epsilon / 2))


def both(peer: str, epsilon: float, delta: float) -> list[tuple[str, tuple[float, float]]]:
    """A peer whose ε is for adding or removing a record: at what equals (ε, δ) for replacing one, and as it states it."""
    return [(peer, half(epsilon, delta)), (f"{peer}, add or remove", (epsilon, delta))]


def ours() -> None:
    from pairdp import PrivateRanker

    versions("pairdp")

    def fit(epsilon: float, delta: float, **settings: int) -> Fit:
        def train(split: Split) -> np.ndarray:
            ranker = PrivateRanker(epsilon=epsilon, delta=delta, bounds=(-1, 1), **settings)
            return ranker.fit(split.X, split.y).decision_function(split.X_test)

        return train

    for data in sets("ranking"):
        for epsilon in data.epsilons:
            measure(data, epsilon, "pairdp", [fit(epsilon, data.delta)])
            measure(data, epsilon, "pairdp, add or remove", [fit(epsilon, data.delta, max_records=data.train)])
            measure(data, epsilon, "pairdp, δ = 0", [fit(epsilon, 0.0)])


def diffprivlib() -> None:
    from diffprivlib.models import LogisticRegression

    versions("diffprivlib", "scikit-learn")

    def fit(epsilon: float, C: float, scale: Callable[[Split], Split]) -> Fit:
        def train(split: Split) -> np.ndarray:
            split = scale(split)
            model = LogisticRegression(epsilon=epsilon, data_norm=1.0, C=C, max_iter=1000)
            return model.fit(split.X, split.y).decision_function(split.X_test)

        return train

    grid = [(C, scale) for scale in (cut_to_one, divided) for C in (1.0, 0.1, 0.01)]
    for data in sets("ranking"):
        for epsilon in data.epsilons:
            measure(data, epsilon, "diffprivlib", [fit(epsilon, C, scale) for C, scale in grid])


def opacus() -> None:
    import torch
    from opacus import PrivacyEngine
    from opacus.accountants.utils import get_noise_multiplier
    from torch.utils.data import DataLoader, TensorDataset

    versions("opacus", "torch")
    torch.set_num_threads(1)
    # The accountant takes seconds for each, and knows nothing of ranges: what it found is kept for the next run.
    kept = Path(option("--splits", ".")) / "opacus-noise.json"
    noises: dict[str, float] = json.loads(kept.read_text()) if kept.exists() else {}

    class Rows(TensorDataset):
        """A batch is taken at once instead of row by row."""

        def __getitems__(self, chosen: list[int]) -> list[torch.Tensor]:
            return [tensor[chosen] for tensor in self.tensors]

    def fit(epsilon: float, delta: float, batch: int, epochs: int, rate: float) -> Fit:
        def train(split: Split) -> np.ndarray:
            split = cut_to_one(split)
            key = f"{len(split.X)} {batch} {epochs} {epsilon} {delta}"
            if key not in noises:
                noises[key] = get_noise_multiplier(
                    target_epsilon=epsilon,
                    target_delta=delta,
                    sample_rate=batch / len(split.X),
                    epochs=epochs,
                    accountant="prv",
                )
                kept.write_text(json.dumps(noises))
            X, y = (torch.tensor(values, dtype=torch.float32) for values in (split.X, split.y))
            model = torch.nn.Linear(X.shape[1], 1)
            torch.nn.init.zeros_(model.weight)
            torch.nn.init.zeros_(model.bias)
            model, optimizer, loader = PrivacyEngine().make_private(
                module=model,
                optimizer=torch.optim.SGD(model.parameters(), lr=rate),
                data_loader=DataLoader(Rows(X, y), batch_size=batch, collate_fn=lambda rows: rows),
                noise_multiplier=noises[key],
                max_grad_norm=1.0,
            )
            loss = torch.nn.BCEWithLogitsLoss()
            for _ in range(epochs):
                for rows, labels in loader:
                    if len(rows):
                        optimizer.zero_grad()
                        loss(model(rows).squeeze(-1), labels).backward()
                        optimizer.step()
            return split.X_test @ model._module.weight.detach().numpy()[0].astype(float)

        return train

    for data in sets("ranking"):
        n, large = data.train, data.train > 10_000
        grid = [(64, 10, 0.5), (n // 4, 20, 2.0), (n // 2, 30, 1.0)]
        if large:
            grid = [(256, 3, 0.5), (2048, 3, 8.0), (2048, 10, 4.0)]
        for epsilon in data.epsilons:
            for name, budget in both("Opacus", epsilon, data.delta):
                measure(data, epsilon, name, [fit(*budget, *settings) for settings in grid])


def dp_ebm() -> None:
    from interpret.privacy import DPExplainableBoostingClassifier

    versions("interpret-core")

    def fit(epsilon: float, delta: float) -> Fit:
        def train(split: Split) -> np.ndarray:
            bounds = np.array([[-1.0, 1.0]] * split.X.shape[1])
            model = DPExplainableBoostingClassifier(epsilon=epsilon, delta=delta, privacy_bounds=bounds, n_jobs=1)
            return model.fit(split.X, split.y).predict_proba(split.X_test)[:, 1]

        return train

    for data in sets("ranking"):
        for epsilon in data.epsilons:
            for name, budget in both("DP-EBM", epsilon, data.delta):
                measure(data, epsilon, name, [fit(*budget)])


def ceiling() -> None:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    versions("scikit-learn")

    def logistic(split: Split) -> np.ndarray:
        scaler = StandardScaler().fit(split.X)
        model = LogisticRegression(C=1000.0, max_iter=1000).fit(scaler.transform(split.X), split.y)
        return model.decision_function(scaler.transform(split.X_test))

    def trees(split: Split) -> np.ndarray:
        model = HistGradientBoostingClassifier(max_iter=150, learning_rate=0.07, early_stopping=True, random_state=0)
        return model.fit(split.X, split.y).decision_function(split.X_test)

    for data in sets("ranking"):
        measure(data, None, "logistic regression, not private", [logistic])
        measure(data, None, "boosted trees, not private", [trees])


CONTENDERS = {"ours": ours, "diffprivlib": diffprivlib, "opacus": opacus, "dp-ebm": dp_ebm, "ceiling": ceiling}
CONTENDERS[sys.argv[1]]()
