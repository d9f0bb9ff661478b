"""OpenDP and NumPy: Gaussian noise for a vector of 10⁵."""

import numpy as np
import opendp.prelude as dp

from racing import race, timed, versions

SAMPLES = 100_000


def opendp(zero, **atom) -> float:
    """Return the samples per second of a Gaussian mechanism with scale 1."""
    domain = dp.vector_domain(dp.atom_domain(T=type(zero), **atom))
    mechanism = dp.m.make_gaussian(domain, dp.l2_distance(T=type(zero)), scale=1.0)
    return SAMPLES / timed(lambda: mechanism([zero] * SAMPLES), 2).seconds


def numpy_rate(sample) -> float:
    return SAMPLES / timed(lambda: [sample() for _ in range(20)], 5).seconds * 20


dp.enable_features("contrib", "honest-but-curious")
versions("opendp", "numpy")
generator = np.random.default_rng()
race("noise", "integers, scale 1", "OpenDP", lambda: opendp(0))
race("noise", "floats, scale 1", "OpenDP", lambda: opendp(0.0, nan=False))
race("noise", "floats, scale 1", "NumPy, not secure", lambda: numpy_rate(lambda: generator.standard_normal(SAMPLES)))
