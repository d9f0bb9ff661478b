"""Who fails first, on the sets that scikit-survival comes with.

`survival.py write DIR` writes tables and schemas for `cargo xtask bench utility --only survival --data DIR`.
`survival.py ceilings DIR [--splits K] [--only NAME]` prints what Cox's model finds without privacy, and what a user could do
without survival models: diffprivlib's logistic regression of who has the event in the first half of the time. The same numbers go to
`DIR/ceilings.json`, and the benchmark prints them beside its own.

Ranges and horizons were written down from the names of columns and clinical sense, not from the data. Both need scikit-survival.
diffprivlib 0.6.6 does not run beside scikit-learn 1.9, which scikit-survival 0.28 asks for: scikit-learn 1.7 and scikit-survival 0.25
serve both, and where it is missing its columns stay empty.
"""

from __future__ import annotations

import csv
import json
import math
import sys
import tomllib
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

EPSILONS = (0.5, 1.0, 2.0)
RIDGES = (1e-2, 1.0, 10.0)


class Set(NamedTuple):
    loader: str
    time: str
    event: str
    horizon: float
    # A range; a list of values in their order, mapped to equal steps; or none for categories.
    columns: dict[str, tuple[float, float] | list[str] | None]


YES, BIT = ["no", "yes"], ["0", "1"]

SETS = {
    # Without `chapter`, a cause of death: it tells the outcome.
    "flchain": Set(
        "load_flchain",
        "futime",
        "death",
        5110,
        {
            "age": (50, 100),
            "creatinine": (0.4, 2.5),
            "flc.grp": (1, 10),
            "kappa": (0, 5),
            "lambda": (0, 5),
            "mgus": YES,
            "sex": ["F", "M"],
            "sample.yr": (1995, 2003),
        },
    ),
    "gbsg2": Set(
        "load_gbsg2",
        "time",
        "cens",
        2555,
        {
            "age": (20, 80),
            "estrec": (0, 500),
            "progrec": (0, 500),
            "pnodes": (0, 20),
            "tsize": (0, 80),
            "horTh": YES,
            "menostat": ["Pre", "Post"],
            "tgrade": ["I", "II", "III"],
        },
    ),
    "whas500": Set(
        "load_whas500",
        "lenfol",
        "fstat",
        2190,
        {
            "age": (30, 100),
            "bmi": (15, 45),
            "diasbp": (30, 130),
            "sysbp": (80, 220),
            "hr": (40, 150),
            "los": (0, 20),
            **dict.fromkeys(("afb", "av3", "chf", "cvd", "gender", "miord", "mitype", "sho"), BIT),
        },
    ),
    # Without `txgrp`, which says `tx` again.
    "aids": Set(
        "load_aids",
        "time",
        "censor",
        365,
        {
            "age": (18, 70),
            "cd4": (0, 400),
            "karnof": (70, 100),
            "priorzdv": (0, 60),
            "hemophil": BIT,
            "sex": ["1", "2"],
            "strat2": BIT,
            "tx": BIT,
            "ivdrug": None,
            "raceth": None,
        },
    ),
    "veteran": Set(
        "load_veterans_lung_cancer",
        "Survival_in_days",
        "Status",
        730,
        {
            "Age_in_years": (30, 85),
            "Karnofsky_score": (0, 100),
            "Months_from_Diagnosis": (0, 60),
            "Prior_therapy": YES,
            "Treatment": ["standard", "test"],
            "Celltype": None,
        },
    ),
}


def write(folder: Path) -> None:
    """Write every set: two values, and grades, as the numbers 0, 1, …, whose range becomes -1 to 1."""
    from sksurv import datasets

    folder.mkdir(parents=True, exist_ok=True)
    for name, (loader, time, event, horizon, columns) in SETS.items():
        X, y = getattr(datasets, loader)()
        lines = ["# Public knowledge only.", "private = false", "", "[label]"]
        lines += [f'time = "{time}"', f'event = "{event}"', "occurred = 1", "censored = 0", f"horizon = {horizon}"]
        cells: dict[str, list[Any]] = {}
        for column, kind in columns.items():
            lines += ["", "[[column]]", f'name = "{column}"']
            values = X[column]
            if kind is None:
                listed = [str(value) for value in values.cat.categories]
                lines.append(f"categories = {json.dumps(listed)}")
                cells[column] = [str(value) for value in values]
                continue
            low, high = (0, len(kind) - 1) if isinstance(kind, list) else kind
            lines += [f"range = [{low}, {high}]", f"missing = {(low + high) / 2:g}"]
            numbers = [kind.index(str(v)) if isinstance(kind, list) else float(v) for v in values]
            cells[column] = ["" if math.isnan(number) else f"{number:.15g}" for number in numbers]
        cells[time] = [f"{value:.15g}" for value in y[time]]
        cells[event] = [int(value) for value in y[event]]
        (folder / f"{name}.schema.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(cells)
            writer.writerows(zip(*cells.values(), strict=True))
        print(f"{name}: {len(y)} records, {int(y[event].sum())} events")


class Table(NamedTuple):
    X: np.ndarray
    event: np.ndarray
    time: np.ndarray
    horizon: float

    def part(self, rows: np.ndarray) -> Table:
        return self._replace(X=self.X[rows], event=self.event[rows], time=self.time[rows])


def read(folder: Path, name: str) -> Table:
    """Read a set as its schema says: numbers by their ranges to -1 to 1, categories a column each."""
    schema = tomllib.loads((folder / f"{name}.schema.toml").read_text(encoding="utf-8"))
    with (folder / f"{name}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns = []
    for column in schema["column"]:
        cells = [row[column["name"]] for row in rows]
        if "categories" in column:
            columns += [[float(cell == value) for cell in cells] for value in column["categories"]]
        else:
            low, high = column["range"]
            numbers = np.array([float(cell or column["missing"]) for cell in cells])
            columns.append(np.clip(2 * (numbers - low) / (high - low) - 1, -1, 1))
    label = schema["label"]
    time = np.array([float(row[label["time"]]) for row in rows])
    event = np.array([row[label["event"]] == "1" for row in rows])
    horizon = float(label["horizon"])
    return Table(np.column_stack(columns), event & (time <= horizon), np.minimum(time, horizon), horizon)


def concordance(table: Table, scores: np.ndarray) -> float:
    from sksurv.metrics import concordance_index_censored

    return float(concordance_index_censored(table.event, table.time, scores)[0])


def cox(train: Table, test: Table) -> float:
    """Cox's model, with the least ridge for which it is found."""
    from sksurv.linear_model import CoxPHSurvivalAnalysis
    from sksurv.util import Surv

    for ridge in RIDGES:
        try:
            model = CoxPHSurvivalAnalysis(alpha=ridge).fit(train.X, Surv.from_arrays(train.event, train.time))
            return concordance(test, model.predict(test.X))
        except (ArithmeticError, ValueError, np.linalg.LinAlgError):
            continue
    return math.nan


def short(X: np.ndarray) -> np.ndarray:
    """Rows over 0.7 times the root of their number, cut to norm 1."""
    X = X / (0.7 * math.sqrt(X.shape[1]))
    return X / np.maximum(1.0, np.linalg.norm(X, axis=1, keepdims=True))


def classified(epsilon: float, C: float) -> Callable[[Table, Table], float]:
    """Who has the event before the middle of the time; whoever was lost before it is left out."""

    def fit(train: Table, test: Table) -> float:
        middle = train.horizon / 2
        early = train.event & (train.time <= middle)
        kept = early | (train.time > middle)
        if len(set(early[kept])) < 2:
            return 0.5
        from diffprivlib.models import LogisticRegression

        model = LogisticRegression(epsilon=epsilon, data_norm=1.0, C=C, max_iter=1000)
        model.fit(short(train.X[kept]), early[kept].astype(int))
        return concordance(test, model.decision_function(short(test.X)))

    return fit


def has_diffprivlib() -> bool:
    try:
        import diffprivlib.models  # noqa: F401
    except ImportError:
        return False
    return True


def mean(values: list[float]) -> str:
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return "–"
    error = float(np.std(known, ddof=1)) / math.sqrt(len(known)) if len(known) > 1 else math.nan
    return f"{np.mean(known):.3f} ± {error:.3f}"


def ceilings(folder: Path, splits: int | None, only: str | None) -> None:
    warnings.simplefilter("ignore")
    peer = has_diffprivlib()
    print(
        f"scikit-survival {version('scikit-survival')}, diffprivlib {version('diffprivlib') if peer else 'missing'}\n"
    )
    private = [f"diffprivlib, ε = {epsilon:g}" for epsilon in EPSILONS]
    print(f"| set | train n | d | events | splits | Cox, no privacy | {' | '.join(private)} | best of three C, ε = 1 |")
    print("|---" * (7 + len(EPSILONS)) + "|")
    rows: list[dict[str, Any]] = []
    for name in [only] if only else SETS:
        table = read(folder, name)
        n = len(table.time)
        count = splits or (100 if n < 200 else 50 if n < 2000 else 20)
        tried = [(epsilon, 1.0) for epsilon in EPSILONS] + [(1.0, 0.1), (1.0, 0.01)]
        contenders = {"cox": cox} | ({pair: classified(*pair) for pair in tried} if peer else {})
        found: dict[Any, list[float]] = {contender: [] for contender in ["cox", *tried]}
        for k in range(count):
            order = np.random.default_rng(5000 + k).permutation(n)
            train, test = table.part(order[: n * 2 // 3]), table.part(order[n * 2 // 3 :])
            for contender, fit in contenders.items():
                found[contender].append(fit(train, test))
        best = max((found[pair] for pair in tried if pair[0] == 1.0), key=sum)
        shown = [found["cox"], *(found[epsilon, 1.0] for epsilon in EPSILONS), best]
        facts = f"{n * 2 // 3} | {table.X.shape[1]} | {int(table.event.sum())} | {count}"
        print(f"| {name} | {facts} | {' | '.join(mean(values) for values in shown)} |", flush=True)
        named = [("Cox", None, found["cox"])] + [("diffprivlib", e, found[e, 1.0]) for e in EPSILONS if peer]
        for contender, epsilon, values in named:
            known = [value for value in values if not math.isnan(value)]
            error = float(np.std(known, ddof=1)) / math.sqrt(len(known)) if len(known) > 1 else 0.0
            row = {"set": name, "n": n * 2 // 3, "contender": contender, "epsilon": epsilon, "splits": count}
            rows.append(row | {"c": float(np.mean(known)) if known else None, "se": error})
    (folder / "ceilings.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def option(name: str) -> str | None:
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else None


def main() -> None:
    match sys.argv[1:]:
        case ["write", folder]:
            write(Path(folder))
        case ["ceilings", folder, *_]:
            splits = option("--splits")
            ceilings(Path(folder), int(splits) if splits else None, option("--only"))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
