# %% [markdown]
# # Auditing a claim
#
# A certificate is a proof from public facts. An audit asks the code instead: train on two tables that differ in one
# record, many times, and try to tell the models apart. From how well that works follows a *lower* bound on ε that holds
# whatever the code does.

# %%
import numpy as np
from scipy.stats import beta

from pairdp import PrivateRanker

RUNS = 1000
CONFIDENCE = 0.999999  # a true claim is called false in one of a million audits, at most

# The only negative record is in every pair that counts, and moves from one end of the range to the other.
labels = (np.arange(40) > 0).astype(int)
table, neighbour = np.zeros((40, 1)), np.zeros((40, 1))
table[0], neighbour[0] = 1.0, -1.0


def slopes(X, epsilon):
    ranker = PrivateRanker(epsilon=epsilon, delta=1e-6, bounds=(-1, 1), algorithm="noisy-gd", steps=1, step_size=1.0)
    return np.array([ranker.fit(X, labels).coef_[0] for _ in range(RUNS)])


# %% [markdown]
# ## Tell them apart
#
# The threshold is chosen on the first half of the runs and judged on the second, so that choosing it costs nothing. For
# every (ε, δ)-private training, P(above | neighbour) ≤ e^ε · P(above | table) + δ; exact binomial bounds on both
# probabilities turn this into a bound on ε.


# %%
def lower_bound(without, with_record):
    half, error = RUNS // 2, (1 - CONFIDENCE) / 2
    candidates = np.quantile(without[:half], [0.5, 0.8, 0.9, 0.99, 1.0])
    gain = [np.mean(with_record[:half] > t) / (np.mean(without[:half] > t) + 0.03) for t in candidates]
    threshold = candidates[int(np.argmax(gain))]
    hits, alarms = np.sum(with_record[half:] > threshold), np.sum(without[half:] > threshold)
    at_least = beta.ppf(error, hits, half - hits + 1) if hits else 0.0
    at_most = beta.ppf(1 - error, alarms + 1, half - alarms) if alarms < half else 1.0
    return max(0.0, float(np.log(max(at_least - 1e-6, 1e-300) / at_most)))


# %% [markdown]
# ## A true claim

# %%
claimed = 2.0
honest = lower_bound(slopes(table, claimed), slopes(neighbour, claimed))
print(f"claimed epsilon {claimed}: shown to be at least {honest:.2f}, no contradiction: {honest <= claimed}")

# %% [markdown]
# ## A false one
#
# Somebody trains with noise for ε = 20 and writes 2 on the box.

# %%
false = lower_bound(slopes(table, 20.0), slopes(neighbour, 20.0))
print(f"claimed epsilon {claimed}: shown to be at least {false:.2f}, refuted: {false > claimed}")
