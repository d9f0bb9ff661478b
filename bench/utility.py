"""Tables, and a plot, of what `cargo xtask bench utility --json` printed: `utility.py RESULTS… [--peers RESULTS] [--plot FILE]`.

Peers are the lines of `training.py dp-ebm` on the same splits. Sets stand in the order in which they were measured.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

Cells = dict[tuple[str, str, float | None, str], dict[str, Any]]


def read(paths: list[str]) -> Cells:
    cells: Cells = {}
    for path in paths:
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if "contender" in row:
                cells[row["set"], row["ranges"], row["epsilon"], row["contender"]] = row
    return cells


def peers(path: str | None) -> dict[tuple[str, float], float]:
    lines = [] if path is None else [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    return {(line["set"], line["epsilon"]): line["mean"] for line in lines if line.get("job") == "training"}


def table(cells: Cells, others: dict[tuple[str, float], float]) -> None:
    epsilons = sorted({key[2] for key in cells if key[2] is not None})
    shown = " / ".join(f"{epsilon:g}" for epsilon in epsilons)
    print(f"| set | records | ranges | `auto`, ε = {shown} | by ranges alone | DP-EBM | baseline | logistic |")
    print("|---|---|---|---|---|---|---|---|")
    for name, ranges in dict.fromkeys(key[:2] for key in cells):

        def values(contender: str, name: str = name, ranges: str = ranges, error: bool = False) -> str:
            found = [cells.get((name, ranges, epsilon, contender)) for epsilon in epsilons]
            text = [f"{row['mean']:.3f}" + f" ± {row['se']:.3f}" * error if row else "–" for row in found]
            return " / ".join(text)

        def ceiling(contender: str, name: str = name, ranges: str = ranges) -> str:
            row = cells.get((name, ranges, None, contender))
            return f"{row['mean']:.3f}" if row else "–"

        rival = [others.get((name, epsilon)) if ranges == "documented" else None for epsilon in epsilons]
        n = next(row["n"] for key, row in cells.items() if key[:2] == (name, ranges))
        print(
            f"| {name} | {n} | {ranges} | {values('auto', error=True)} | {values('moments of ranges')} | "
            f"{' / '.join('–' if value is None else f'{value:.3f}' for value in rival) if any(rival) else '–'} | "
            f"{ceiling('baseline')} | {ceiling('logistic, standardised')} |"
        )


def plot(cells: Cells, path: str) -> None:
    from matplotlib import pyplot

    regimes = ["tight", "documented", "loose"]
    names = [name for name in dict.fromkeys(key[0] for key in cells) if (name, "loose", 1.0, "auto") in cells]
    figure, ax = pyplot.subplots(figsize=(8, 4.5))
    for contender, marker in (("auto", "o"), ("moments of ranges", "x")):
        for regime, shade in zip(regimes, ("tab:blue", "tab:green", "tab:orange"), strict=True):
            heights = [cells[name, regime, 1.0, contender]["mean"] for name in names]
            label = f"{'auto' if contender == 'auto' else 'by ranges alone'}, {regime} ranges"
            ax.plot(names, heights, marker, color=shade, label=label)
    ax.set(ylabel="AUC at ε = 1", ylim=(0.4, 1.0))
    ax.tick_params(axis="x", rotation=45)
    ax.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path)


def main(arguments: list[str]) -> None:
    options = {}
    for name in ("--peers", "--plot"):
        if name in arguments:
            place = arguments.index(name)
            options[name] = arguments[place + 1]
            del arguments[place : place + 2]
    cells = read(arguments)
    table(cells, peers(options.get("--peers")))
    if "--plot" in options:
        plot(cells, options["--plot"])


main(sys.argv[1:])
