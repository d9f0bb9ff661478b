"""Tables of ratios from the lines that contenders printed: `tables.py results.jsonl`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
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


def training(lines: list[Line]) -> None:
    found = {(line["set"], line["epsilon"], line["contender"]): line for line in lines}
    records = {line["set"]: line["records"] for line in lines}
    contenders = list(dict.fromkeys(line["contender"] for line in lines))
    cells = [key for key in dict.fromkeys((line["set"], line["epsilon"]) for line in lines) if key[1]]
    for title, wanted in (
        ("AUC, one record replaced, ε and δ alike", lambda name: "add or remove" not in name and "δ" not in name),
        ("AUC, one record replaced, δ = 0", lambda name: "δ" in name or "diffprivlib" in name),
        ("AUC, one record added or removed, ε and δ alike", lambda name: "add or remove" in name),
    ):
        shown = [name for name in contenders if wanted(name)]
        ceilings = [name for name in contenders if name.endswith("not private")]
        shown = [name for name in shown if name not in ceilings] + ceilings
        print(f"### {title}\n")
        rows = []
        for name, epsilon in cells:
            line = [found.get((name, None if who in ceilings else epsilon, who)) for who in shown]
            rows.append([name, str(records[name]), str(epsilon), *map(measured, line)])
        table(["set", "records", "ε", *shown], rows)


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
