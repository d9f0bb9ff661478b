"""How long a step of training takes on clusters that we do not have: `python3 bench/simulate_cluster.py`.

A step is: the driver sends the question to every worker; each computes its share of the rows; states are merged, by
the driver alone (star) or 16 at a time by workers first (tree). The model knows rows, messages and bytes:

    compute   rows / workers * row cost * (1 + spread * sqrt(2 ln workers)), for the slowest of many ends a step
    star      workers * (engine's cost of a message + merging a state + its bytes over the driver's network)
    tree      the same for 16 states at each level, the last of which is the driver's, and a message for each of the
              merging tasks, which the driver or the scheduler starts one by one

The library takes trees above 16 workers, and the table says what they cost or save there. That depends on the size of
states: below, from which size on they pay. Defaults were measured by `cargo xtask bench engines`, which prints the options for the machine it runs on.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass, replace

FAN_IN = 16


@dataclass(frozen=True)
class Costs:
    """Everything in seconds."""

    row: float
    once: float
    message: float
    merge: float
    byte: float
    spread: float
    state: float

    @property
    def arrival(self) -> float:
        """Return what one state costs whoever merges it: the network and the merge, both as large as the state."""
        return self.merge + self.byte * self.state


@dataclass(frozen=True)
class Step:
    compute: float
    gather: float
    overhead: float

    @property
    def seconds(self) -> float:
        return self.compute + self.gather + self.overhead

    @property
    def bottleneck(self) -> str:
        parts = {"compute": self.compute, "gathering states": self.gather, "the engine": self.overhead}
        return max(parts, key=lambda name: parts[name])


def compute(rows: int, workers: int, costs: Costs) -> float:
    slowest = 1 + costs.spread * math.sqrt(2 * math.log(workers))
    return rows / workers * costs.row * slowest


def star(rows: int, workers: int, costs: Costs) -> Step:
    gather = workers * costs.arrival
    return Step(compute(rows, workers, costs), gather, costs.once + workers * costs.message)


def tree(rows: int, workers: int, costs: Costs) -> Step:
    gather, tasks, left = 0.0, 0, workers
    while left > FAN_IN:
        gather += FAN_IN * costs.arrival + costs.once
        left = math.ceil(left / FAN_IN)
        tasks += left
    gather += left * costs.arrival
    return Step(compute(rows, workers, costs), gather, costs.once + (workers + tasks) * costs.message)


def pays_from(workers: int, costs: Costs) -> float:
    """Return the size of a state from which a tree is faster than a star; compute is the same for both."""

    def saved(state: float) -> float:
        larger = replace(costs, state=state)
        return star(0, workers, larger).seconds - tree(0, workers, larger).seconds

    # What a tree saves is linear in the size of states.
    at_none, each_kb = saved(0), saved(1e3) - saved(0)
    return -at_none / each_kb * 1e3


def human(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{1e3 * seconds:.0f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--row-ns", type=float, default=301, help="a row of 100 features, on one core")
    parser.add_argument("--merge-us", type=float, nargs=2, default=(7.4, 3.49), help="merging states, and each KB")
    parser.add_argument("--ray-ms", type=float, nargs=2, default=(1.1, 1.91), help="a question, and each worker")
    parser.add_argument("--dask-ms", type=float, nargs=2, default=(42.1, 5.58), help="the same for Dask")
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--state-kb", type=float, default=0.9, help="a state of 100 features; larger with more")
    parser.add_argument("--gigabits", type=float, default=10.0, help="the network of one machine")
    parser.add_argument("--spread", type=float, default=0.05, help="standard deviation of workers' speed, of its mean")
    told = parser.parse_args()
    scale = told.features / 100
    state = told.state_kb * 1e3 * scale
    print(f"{told.features} features: {8 * told.features} bytes a row, a state of {state / 1e3:.1f} KB\n")
    print("| engine | rows | workers | memory each | a step | limited by | tree against star | moved a step |")
    print("|---|---|---|---|---|---|---|---|")
    sizes = []
    for engine, (once, each) in (("Ray", told.ray_ms), ("Dask", told.dask_ms)):
        costs = Costs(
            row=told.row_ns * 1e-9 * scale,
            once=once * 1e-3,
            message=each * 1e-3,
            merge=told.merge_us[0] * 1e-6,
            byte=told.merge_us[1] * 1e-9 + 8 / (told.gigabits * 1e9),
            state=state,
            spread=told.spread,
        )
        sizes += [f"{pays_from(w, costs) / 1e3:.0f} KB for {engine} with {w} workers" for w in (100, 1000)]
        for rows in (10**8, 10**9, 10**10):
            for workers in (10, 100, 1000):
                one, many = star(rows, workers, costs), tree(rows, workers, costs)
                step = many if workers > FAN_IN else one
                memory = rows / workers * 8 * told.features / 1e9
                against = f"{many.seconds / one.seconds - 1:+.1%}" if workers > FAN_IN else "star"
                print(
                    f"| {engine} | 10^{round(math.log10(rows))} | {workers} | {memory:,.1f} GB | {human(step.seconds)} "
                    f"| {step.bottleneck} | {against} | {workers * state / 1e3:,.0f} KB |"
                )
    print(f"\nTrees pay for states larger than {', '.join(sizes)}.")


if __name__ == "__main__":
    main()
