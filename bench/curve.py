"""What privacy costs, as one picture: `curve.py RESULTS… > docs/images/privacy_utility.svg`.

Reads lines that `cargo xtask bench utility --data DIR --only pima,spambase,adult --ranges documented --epsilons 0.1,0.2,0.5,1,2,4 --json`
prints. A line is the mean AUC of `auto` over splits, with bars of two standard errors; dashed is logistic regression without privacy.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

COLOURS = ("#1f5fa8", "#b4521a", "#2d7d46", "#6b4fa0")
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 330, 56, 16, 470, 276
LOWEST, HIGHEST = 0.5, 1.0


def main(paths: list[str]) -> None:
    lines = [json.loads(line) for path in paths for line in Path(path).read_text(encoding="utf-8").splitlines()]
    rows = [line for line in lines if line.get("ranges") == "documented" and "contender" in line]
    curves = {name: [row for row in rows if row["set"] == name] for name in dict.fromkeys(row["set"] for row in rows)}
    epsilons = sorted({row["epsilon"] for row in rows if row["epsilon"] is not None})
    print(svg(curves, epsilons))


def svg(curves: dict[str, list[dict[str, Any]]], epsilons: list[float]) -> str:
    first, last = math.log(epsilons[0]), math.log(epsilons[-1])

    def across(epsilon: float) -> float:
        return LEFT + 14 + (RIGHT - LEFT - 28) * (math.log(epsilon) - first) / (last - first)

    def up(auc: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * (auc - LOWEST) / (HIGHEST - LOWEST)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'role="img" font-family="sans-serif" font-size="12">',
        "<title>What privacy costs: AUC of private rankers as ε varies</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="6" fill="#ffffff"/>',
    ]
    for tenth in range(5, 11):
        y = up(tenth / 10)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{RIGHT}" stroke="#e3e6ea"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" fill="#4a5560">{tenth / 10:.1f}</text>')
    parts += [
        f'<text x="{across(epsilon):.1f}" y="{BOTTOM + 18}" text-anchor="middle" fill="#4a5560">{epsilon:g}</text>'
        for epsilon in epsilons
    ]
    middle = (LEFT + RIGHT) / 2
    parts.append(
        f'<text x="{middle}" y="{HEIGHT - 14}" text-anchor="middle" fill="#1c2733">ε: less private to the right</text>'
    )
    parts.append(
        f'<text transform="translate(16 {(TOP + BOTTOM) / 2}) rotate(-90)" text-anchor="middle" fill="#1c2733">AUC on new records</text>'
    )
    ends = []
    for (name, rows), colour in zip(curves.items(), COLOURS, strict=False):
        points = sorted((row["epsilon"], row["mean"], row["se"]) for row in rows if row["contender"] == "auto")
        path = "L".join(f"{across(epsilon):.1f} {up(mean):.1f}" for epsilon, mean, _ in points)
        parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for epsilon, mean, error in points:
            x, reach = across(epsilon), 2 * (error or 0)
            parts.append(f'<path d="M{x:.1f} {up(mean - reach):.1f}V{up(mean + reach):.1f}" stroke="{colour}"/>')
            parts.append(
                f'<circle cx="{x:.1f}" cy="{up(mean):.1f}" r="3" fill="{colour}"><title>{mean:.3f}</title></circle>'
            )
        ceiling = next(row["mean"] for row in rows if row["contender"].startswith("logistic"))
        parts.append(
            f'<path d="M{LEFT} {up(ceiling):.1f}H{RIGHT}" stroke="{colour}" stroke-dasharray="4 4" opacity="0.7"/>'
        )
        ends.append([up(points[-1][1]), f"{name}, {rows[0]['n']:,} records", colour])
    for before, (y, text, colour) in zip([[-math.inf], *sorted(ends)], sorted(ends), strict=False):
        place = max(y, before[0] + 18)
        parts.append(f'<text x="{RIGHT + 8}" y="{place + 4:.1f}" fill="{colour}" font-weight="bold">{text}</text>')
    parts.append(f'<text x="{RIGHT + 8}" y="{BOTTOM}" fill="#4a5560">dashed: no privacy</text>')
    return "\n".join([*parts, "</svg>"])


main(sys.argv[1:])
