# %% [markdown]
# # A private metric for patient similarity
#
# Which earlier patients are like this one? A learned distance answers better than the plain one, and whoever publishes
# it must not give away who it was learned from. Here two of six measurements tell the diagnosis, the rest is noise;
# everybody is simulated.

# %%
import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from pairdp import PrivateMetric


def patients(count, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(count, 6))
    return X, np.where(X[:, 0] + X[:, 1] > 0, "flu", "cold")


X, y = patients(6000, 1)
known, diagnoses = patients(300, 2)  # public cases to compare with
new, truth = patients(2000, 3)

# %% [markdown]
# ## Learn the distance from the private patients

# %%
metric = PrivateMetric(epsilon=2.0, delta=1e-6, bounds=(-1, 1), classes=["cold", "flu"]).fit(X, y)
assert metric.verify()
weights = np.diag(metric.matrix_)
print("the two that matter", weights[:2].round(2), "the others at most", weights[2:].max().round(2))

# %% [markdown]
# ## Look up similar public cases, plainly and with the learned distance

# %%
plain = KNeighborsClassifier(9).fit(known, diagnoses).score(new, truth)
learned = KNeighborsClassifier(9).fit(metric.transform(known), diagnoses).score(metric.transform(new), truth)
print(f"right diagnoses: plain distance {plain:.3f}, learned distance {learned:.3f}")

# %% [markdown]
# `pair_distance` compares two patients directly.

# %%
print(metric.pair_distance([[new[0], known[0]], [new[0], known[1]]]))
