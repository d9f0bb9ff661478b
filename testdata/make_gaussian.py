"""Writes gaussian.csv: the exact noise of the Gaussian mechanism for many budgets, in 50-digit arithmetic.

Run: python3 testdata/make_gaussian.py   (needs mpmath)
"""

from pathlib import Path

from mpmath import erfc, exp, mp, mpf, sqrt

mp.dps = 50


def cdf(x):
    return erfc(-x / sqrt(2)) / 2


def delta(epsilon, ratio):
    return cdf(ratio / 2 - epsilon / ratio) - exp(epsilon) * cdf(-ratio / 2 - epsilon / ratio)


def largest_ratio(epsilon, target):
    low, high = mpf(0), mpf(1)
    while delta(epsilon, high) <= target:
        high *= 2
    for _ in range(180):
        middle = (low + high) / 2
        low, high = (middle, high) if delta(epsilon, middle) <= target else (low, middle)
    return low


rows = ["epsilon,delta,sigma"]
for epsilon in ["1e-4", "0.01", "0.1", "0.5", "1", "2", "5", "10", "100"]:
    for target in ["0.1", "1e-3", "1e-6", "1e-10", "1e-20", "1e-100", "1e-300"]:
        # The same binary numbers that the tests parse, not the decimal ones.
        ratio = largest_ratio(mpf(float(epsilon)), mpf(float(target)))
        rows.append(f"{epsilon},{target},{mp.nstr(1 / ratio, 25)}")
Path(__file__).with_name("gaussian.csv").write_text("\n".join(rows) + "\n")
