"""Tables of ratios from the lines that contenders printed: `tables.py results.jsonl`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

Line = dict
GOALS = {"accountant": 100, "noise": 200, "gradient": 1000}


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    head = list(head)
    for row in (head, ["---"] * len(head), *rows):
        print("| " + " | ".join(row) + " |")
    print()


def times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 20 else f"{ratio:.2g}" if ratio < 1 else f"{ratio:.1f}"


def ours_and_theirs(lines: list[Line]) -> Iterable[tuple[Line, Line]]:
    """Pair every peer's result with ours in the same case."""
    ours = {line["case"]: line for line in lines if line["contender"] == "pairdp"}
    for line in lines:
        if line["contender"] != "pairdp" and line["case"] in ours:
            yield ours[line["case"]], line


def accountant(lines: list[Line]) -> None:
    print("### Accountants\n\nA sample of 2 of n records, n times, n = 5000, δ = 1/n²; C bounds a record's gradient.\n")
    rows = []
    for ours, peer in ours_and_theirs(lines):
        if "failed" in peer:
            rows.append([ours["case"], peer["contender"], peer["failed"], f"{ours['value']:.4f}", "–"])
            continue
        ratio = peer["seconds"] / ours["seconds"]
        rows.append([ours["case"], peer["contender"], f"{peer['value']:.4f}", f"{ours['value']:.4f}", times(ratio)])
    table(["question", "peer", "its answer", "pairdp's", "its CPU time over ours"], rows)


def noise(lines: list[Line]) -> None:
    print("### Noise\n\nA vector of 10⁵ Gaussian samples.\n")
    rows = [
        [ours["case"], peer["contender"], peer.get("failed") or times(ours["value"] / peer["value"])]
        for ours, peer in ours_and_theirs(lines)
    ]
    table(["noise", "peer", "pairdp's samples a second over its"], rows)


def gradient(lines: list[Line]) -> None:
    print("### Gradients over all pairs\n\nLogistic loss, 50 features, one record in 7 positive, one thread.\n")
    rows = []
    for ours, peer in ours_and_theirs(lines):
        difference = "–"
        if peer["gradient"]:
            # Losses are divided by different public numbers.
            mine, its = (max(map(abs, line["gradient"])) for line in (ours, peer))
            pairs = zip(ours["gradient"], peer["gradient"], strict=True)
            difference = f"{max(abs(a / mine - b / its) for a, b in pairs):.0e}"
        share = "all" if peer["share"] == 1 else f"{100 * peer['share']:.2g} %"
        rows.append([ours["case"], peer["contender"], share, difference, times(peer["seconds"] / ours["seconds"])])
    table(["table", "peer", "positives timed", "differs by", "its CPU time over ours"], rows)


def measured(line: Line | None) -> str:
    if line is None:
        return "–"
    if "failed" in line:
        return line["failed"]
    error = "" if line["error"] != line["error"] else f" ± {line['error']:.3f}"
    return f"{line['mean']:.3f}{error}"


# What is promised, which contender is ours, and which are compared with it.
GUARANTEES: tuple[tuple[str, str, Callable[[str], bool]], ...] = (
    ("one record replaced", "pairdp", lambda name: "add or remove" not in name and "δ" not in name),
    ("one record replaced, δ = 0", "pairdp, δ = 0", lambda name: "diffprivlib" in name),
    ("one record added or removed", "pairdp, add or remove", lambda name: "add or remove" in name),
)


def training(lines: list[Line]) -> None:
    for ranges in dict.fromkeys(line.get("ranges") for line in lines):
        here = [line for line in lines if line.get("ranges") == ranges]
        under = f", {ranges} ranges" if ranges else ""
        found = {(line["set"], line["epsilon"], line["contender"]): line for line in here}
        print(f"### Where pairdp loses{under}\n")
        losses(found)
        for promise, ours, rival in GUARANTEES:
            print(f"### AUC, {promise}{under}\n")
            compared(found, ours, rival)


def epsilons_of(found: dict[tuple, Line]) -> list[float]:
    return sorted({key[1] for key in found if key[1] is not None})


def better(ours: Line | None, peer: Line | None) -> bool:
    return bool(ours and peer) and f"{peer['mean']:.3f}" > f"{ours['mean']:.3f}"


def compared(found: dict[tuple, Line], ours: str, rival: Callable[[str], bool]) -> None:
    """Means at every ε in one cell: ours with standard errors, theirs in bold where they are better."""
    names = list(dict.fromkeys(contender for _, _, contender in found))
    ceilings = [name for name in names if name.endswith("not private")]
    peers = [name for name in names if rival(name) and name not in (ours, *ceilings)]
    epsilons = epsilons_of(found)
    rows = []
    for name in dict.fromkeys(key[0] for key in found):
        mine = [found.get((name, epsilon, ours)) for epsilon in epsilons]
        row = [name, str(next(line["records"] for key, line in found.items() if key[0] == name))]
        row.append(" / ".join(map(measured, mine)))
        for peer in peers:
            theirs = [found.get((name, epsilon, peer)) for epsilon in epsilons]
            cells = [
                f"**{line['mean']:.3f}**" if better(own, line) else f"{line['mean']:.3f}" if line else "–"
                for own, line in zip(mine, theirs, strict=True)
            ]
            row.append(" / ".join(cells))
        row.extend(measured(found.get((name, None, ceiling))).split(" ± ")[0] for ceiling in ceilings)
        rows.append(row)
    shown = " / ".join(f"{epsilon:g}" for epsilon in epsilons)
    table(["set", "records", f"{ours}, ε = {shown}", *peers, *ceilings], rows)


def losses(found: dict[tuple, Line]) -> None:
    """Name the best of the private peers, where it is better than we are, with the difference on the same splits."""
    names = list(dict.fromkeys(contender for _, _, contender in found if not contender.endswith("not private")))
    epsilons = epsilons_of(found)
    rows = []
    for promise, ours, rival in GUARANTEES:
        for name in dict.fromkeys(key[0] for key in found):
            cells = []
            for epsilon in epsilons:
                mine = found.get((name, epsilon, ours))
                theirs = [found.get((name, epsilon, peer)) for peer in names if rival(peer) and peer != ours]
                best = max(filter(None, theirs), key=lambda line: line["mean"], default=None)
                cells.append(by_how_much(mine, best) if better(mine, best) else "")
            if any(cells):
                rows.append([promise, name, *cells])
    table(["guarantee", "set", *(f"ε = {epsilon:g}" for epsilon in epsilons)], rows)


def by_how_much(ours: Line, peer: Line) -> str:
    """Take the difference split by split, with its standard error."""
    differences = [theirs - own for theirs, own in zip(peer["values"], ours["values"], strict=True)]
    mean = sum(differences) / len(differences)
    error = ""
    if len(differences) > 1:
        square = sum((value - mean) ** 2 for value in differences) / (len(differences) - 1)
        error = f" ± {(square / len(differences)) ** 0.5:.3f}"
    return f"{peer['contender'].replace(', add or remove', '')}: {mean:.3f}{error}"


def metric(lines: list[Line]) -> None:
    print(
        "### Metrics\n\nAccuracy of the 3 nearest neighbours, and the CPU time of a fit over that of pairdp's at ε = 1.\n"
    )
    contenders = list(dict.fromkeys(line["contender"] for line in lines))
    rows = []
    for name in dict.fromkeys(line["set"] for line in lines):
        here = {line["contender"]: line for line in lines if line["set"] == name}
        base = here.get("pairdp, ε = 1", {}).get("seconds")

        def shown(line: Line | None) -> str:
            if line is None or "seconds" not in line or line["contender"] == "Euclid" or not base:
                return measured(line)
            return f"{measured(line)}, × {times(line['seconds'] / base)}"

        rows.append([name, *(shown(here.get(contender)) for contender in contenders)])
    table(["set", *contenders], rows)


def speed(lines: list[Line]) -> None:
    print("### One fit of 100,000 × 50\n")
    base = next((line for line in lines if line["contender"].startswith("pairdp")), None)
    rows = [
        [
            line["contender"],
            times(line["seconds"] / base["seconds"]),
            f"{line['peak'] / base['peak']:.1f}",
            f"{line['added']:.1f}",
        ]
        for line in lines
        if base
    ]
    head = [
        "contender",
        "CPU time over one release",
        "peak memory over one release",
        "memory added by the fit, in sizes of the table",
    ]
    table(head, rows)


def goals(by_job: dict[str, list[Line]]) -> None:
    """Hold the worst ratio of each job against its goal."""
    rows = []

    def add(what: str, goal: float, ratios: list[float]) -> None:
        if ratios:
            worst = min(ratios)
            rows.append([what, f"≥ {goal}", times(worst), "met" if worst >= goal else "missed"])

    pairs = {job: [pair for pair in ours_and_theirs(by_job.get(job, [])) if "failed" not in pair[1]] for job in GOALS}
    for what in ("ε", "σ"):
        add(
            f"accountant, {what}: faster than any within 6 % of it",
            GOALS["accountant"],
            [
                peer["seconds"] / ours["seconds"]
                for ours, peer in pairs["accountant"]
                if f": {what}" in ours["case"] and peer["value"] <= 1.06 * ours["value"]
            ],
        )
    add(
        "noise: faster than OpenDP",
        GOALS["noise"],
        [ours["value"] / peer["value"] for ours, peer in pairs["noise"] if peer["contender"] == "OpenDP"],
    )
    add(
        "gradient, n = 10⁶: faster than NumPy",
        GOALS["gradient"],
        [
            peer["seconds"] / ours["seconds"]
            for ours, peer in pairs["gradient"]
            if ours["case"] == "n = 1000000" and "NumPy" in peer["contender"]
        ],
    )
    if rows:
        print("### Goals\n\nThe smallest ratio counts.\n")
        table(["goal", "times", "reached", ""], rows)


def main(path: Path) -> None:
    by_job: dict[str, list[Line]] = {}
    for text in path.read_text().splitlines():
        line = json.loads(text)
        by_job.setdefault(line.get("job", "splits"), []).append(line)
    known = {f"{name} {number}" for line in by_job.get("versions", []) for name, number in line["versions"].items()}
    print("Versions: " + ", ".join(sorted(known)) + ".\n")
    for line in by_job.get("absent", []):
        print(f"Absent: {line['peer']}, {line['why']}.\n")
    for line in by_job.get("splits", []):
        if "skipped" in line:
            print(f"Skipped: {line['skipped']}, {line['why']}.\n")
    goals(by_job)
    for job in (accountant, noise, gradient, training, metric, speed):
        if job.__name__ in by_job:
            job(by_job[job.__name__])


main(Path(sys.argv[1]))
