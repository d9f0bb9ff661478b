# %% [markdown]
# # Clinical risk ranking
#
# A hospital wants to publish a score that ranks stays by the risk of a readmission, learned from its own stays. Cells
# begin with `# %%`: editors and Jupyter (with jupytext) open this file as a notebook. Everybody in it is simulated.

# %%
import numpy as np

from pairdp import PrivateRanker, baseline, datasets, plan

stays = datasets.simulate_cohort(6000, seed=1)
others = datasets.simulate_cohort(10000, seed=2)
print(f"{len(stays.y)} stays, {len(stays.feature_names)} features: {', '.join(stays.feature_names)}")

# %% [markdown]
# ## Before anything is spent
#
# The plan follows from public facts: how many stays, how many features, the budget.

# %%
planned = plan(6000, len(stays.feature_names), epsilon=1.0, delta=1e-6)
print(planned["plan"]["algorithm"], "-", planned["because"])

# %% [markdown]
# ## Train, once

# %%
ranker = PrivateRanker(epsilon=1.0, delta=1e-6, bounds=stays.bounds).fit(stays.X, stays.y)
assert ranker.verify()
print(ranker.certificate_["claim"])

# %% [markdown]
# ## What privacy cost
#
# Others are simulated too, so exact scores harm nobody. The true risk, which only a simulation knows, is the ceiling.

# %%
open_model = baseline.Ranker(bounds=stays.bounds).fit(stays.X, stays.y)
positives = others.risks[others.y == 1]
negatives = np.sort(others.risks[others.y == 0])
ceiling = np.searchsorted(negatives, positives).mean() / len(negatives)
private, exact = ranker.score(others.X, others.y), open_model.score(others.X, others.y)
print(f"AUC: private {private:.3f}, without privacy {exact:.3f}, the true risk {ceiling:.3f}")

# %% [markdown]
# ## What the model says
#
# Every feature has a few weights, of functions of its rank among the stays as the first release told it, so that their lengths
# can be compared.

# %%
strengths = np.linalg.norm(ranker.coef_.reshape(len(stays.feature_names), -1), axis=1)
for place in np.argsort(-strengths)[:5]:
    print(f"{stays.feature_names[place]:22} {strengths[place]:.3f}")
