# %% [markdown]
# # From stays to a triage list
#
# Which discharges should be called back? The page docs/triage.md tells the same with a schema file and the commands beside it.
# Cells begin with `# %%`: editors and Jupyter (with jupytext) open this file as a notebook. Everybody in it is simulated.

# %%
import numpy as np
import pandas

import pairdp
from pairdp import PrivateClassifier


def simulate(persons, seed):
    """Return stays of so many patients: frail ones come more often, and not every laboratory value is there."""
    rng = np.random.default_rng(seed)
    frailty = rng.normal(size=persons)
    stays = 1 + rng.poisson(np.exp(0.4 + 0.5 * frailty))
    frail = np.repeat(frailty, stays)
    n = len(frail)
    ward = rng.choice(["surgery", "medicine", "emergency"], p=[0.4, 0.4, 0.2], size=n)
    table = pandas.DataFrame(
        {
            "patient": np.repeat(10_000 + rng.permutation(persons), stays),
            "age": np.repeat(rng.uniform(20, 95, persons), stays).round(),
            "creatinine": (1.2 + 0.3 * frail + 0.3 * rng.normal(size=n)).clip(0.3).round(2),
            "ward": ward,
        }
    )
    risk = 0.03 * (table["age"] - 60) + 2 * (table["creatinine"] - 1.2) + 0.5 * frail + (ward == "emergency") - 1.6
    table["readmitted"] = np.where(rng.random(n) < 1 / (1 + np.exp(-risk)), "yes", "no")
    table.loc[rng.random(n) < 0.15, "creatinine"] = np.nan
    return table


stays, holdout, new = simulate(2500, seed=1), simulate(2500, seed=2), simulate(200, seed=3)

# %% [markdown]
# ## What is public
#
# Ranges from textbooks, the list of wards, whose a record is, and that a missing value is information of its own.

# %%
schema = {
    "label": {"column": "readmitted", "positive": "yes", "negative": "no"},
    "person": {"column": "patient", "kind": "integer"},
    "column": [
        {"name": "age", "range": [18, 100]},
        {"name": "creatinine", "range": [0.2, 10], "missing": "own"},
        {"name": "ward", "categories": ["surgery", "medicine", "emergency"]},
    ],
}

# %% [markdown]
# ## Train, and verify

# %%
model = PrivateClassifier(epsilon=1.0, delta=1e-6, schema=schema, probabilities=True)
model.fit(stays, stays["readmitted"])
print(model.verify(), model.certificate_["claim"])

# %% [markdown]
# ## Evidence, with noise
#
# The patients of another year are private, too. Every interval holds the table's own value 95 times in 100.

# %%
evidence = pairdp.evaluate(model, holdout, holdout["readmitted"], epsilon=1.0, delta=1e-6, curves=True)
print("AUC", evidence.auc)
print(evidence.thresholds[["probability", "flagged", "sensitivity", "precision"]].round(2))

# %% [markdown]
# ## Whom to call, and why

# %%
flagged = model.flag(new, flag_share=0.15)
adds = model.explain(new)
triage = new[["patient"]].assign(probability=model.predict_proba(new)[:, 1], because=adds.idxmax(axis=1))[flagged]
print(triage.sort_values("probability", ascending=False).head(10).round(2))
