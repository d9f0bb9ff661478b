"""NumPy and PyTorch: the gradient of the logistic loss over all pairs of a positive and a negative record, on one thread.

The table is the one that `experiments/bench/src/race.rs` makes. Work grows with the number of pairs, so large tables are timed on a
random part of the positive records and the time is divided by that part, which `share` tells.
"""

import sys

import numpy as np

from racing import QUICK, emit, timed, versions

D = 50


def table(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return positive rows, negative rows and weights; SplitMix64 makes the features."""
    with np.errstate(over="ignore"):
        z = np.arange(1, n * D + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    X = ((z >> np.uint64(11)) / 2.0**52 - 1.0).reshape(n, D) / np.sqrt(D)
    positive = np.arange(n) % 7 == 0
    w = np.sin(0.7 * np.arange(D))
    return X[positive], X[~positive], w * (20 / np.linalg.norm(w))


def blocked(P: np.ndarray, N: np.ndarray, w: np.ndarray, block: int = 1000) -> np.ndarray:
    """Scores once, then the steepness of a block of pairs at a time."""
    p, n = P @ w, N @ w
    over_negatives, over_positives = np.zeros(len(p)), np.zeros(len(n))
    for i in range(0, len(p), block):
        for j in range(0, len(n), block):
            steep = p[i : i + block, None] - n[None, j : j + block]
            np.exp(steep, out=steep)
            steep += 1
            np.reciprocal(steep, out=steep)
            over_negatives[i : i + block] += steep.sum(axis=1)
            over_positives[j : j + block] += steep.sum(axis=0)
    return over_positives @ N - over_negatives @ P


def one_at_a_time(P: np.ndarray, N: np.ndarray, w: np.ndarray) -> np.ndarray:
    """All differences with one positive record, then the next."""
    gradient = np.zeros(D)
    for row in P:
        differences = row - N
        gradient -= (1 / (1 + np.exp(differences @ w))) @ differences
    return gradient


def torch_blocked(P: np.ndarray, N: np.ndarray, w: np.ndarray, block: int = 1000) -> np.ndarray:
    import torch

    torch.set_num_threads(1)
    P, N, w = (torch.from_numpy(values) for values in (P, N, w))
    p, n = P @ w, N @ w
    over_negatives, over_positives = torch.zeros_like(p), torch.zeros_like(n)
    for i in range(0, len(p), block):
        for j in range(0, len(n), block):
            steep = torch.sigmoid(n[None, j : j + block] - p[i : i + block, None])
            over_negatives[i : i + block] += steep.sum(dim=1)
            over_positives[j : j + block] += steep.sum(dim=0)
    return (over_positives @ N - over_negatives @ P).numpy()


if "--torch" in sys.argv:
    versions("torch")
    contenders = [("PyTorch, blocks of scores", torch_blocked, {50_000: 1.0, 1_000_000: 0.01})]
else:
    versions("numpy")
    contenders = [
        ("NumPy, blocks of scores", blocked, {50_000: 1.0, 1_000_000: 0.015}),
        ("NumPy, one positive at a time", one_at_a_time, {50_000: 0.1, 1_000_000: 0.001}),
    ]
for n in (10_000, 50_000, 1_000_000):
    P, N, w = table(n)
    for contender, work, shares in contenders:
        share = min(shares.get(n, 1.0), 0.002 if QUICK and n == 1_000_000 else 1.0)
        chosen = np.random.default_rng(0).permutation(len(P))[: max(1, round(share * len(P)))]
        rows = P[np.sort(chosen)]
        gradient, seconds = timed(lambda: work(rows, N, w), 3 if n == 10_000 else 1)
        whole = len(rows) == len(P)
        emit(
            job="gradient",
            case=f"n = {n}",
            contender=contender,
            gradient=gradient.tolist() if whole else None,
            seconds=seconds * len(P) / len(rows),
            share=len(rows) / len(P),
        )
