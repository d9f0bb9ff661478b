"""dp-accounting and prv-accountant: ε at σ = C, and σ/C for ε = 1, for a sample of 2 of n, n times, n = 5000, δ = 1/n²."""

import warnings

import dp_accounting as dp
from dp_accounting.pld import pld_privacy_accountant
from dp_accounting.rdp import rdp_privacy_accountant
from prv_accountant.dpsgd import DPSGDAccountant, find_noise_multiplier

from racing import QUICK, race, versions

N, BATCH, DELTA = 5000, 2, 4e-8
RATE = BATCH / N
REPLACE = dp.NeighboringRelation.REPLACE_ONE
# Ours is certified to about this relative precision.
PRECISION = 1e-4


def composed(event: dp.DpEvent) -> dp.DpEvent:
    return dp.SelfComposedDpEvent(event, N)


def pld(relation: dp.NeighboringRelation = dp.NeighboringRelation.ADD_OR_REMOVE_ONE) -> dp.PrivacyAccountant:
    return pld_privacy_accountant.PLDAccountant(relation)


def rdp_replace() -> dp.PrivacyAccountant:
    return rdp_privacy_accountant.RdpAccountant(neighboring_relation=REPLACE)


def poisson(sigma: float) -> dp.DpEvent:
    return composed(dp.PoissonSampledDpEvent(RATE, dp.GaussianDpEvent(sigma)))


def without_replacement(sigma: float) -> dp.DpEvent:
    # Replacing a record moves a sum by 2C, which this accountant leaves to its caller.
    return composed(dp.SampledWithoutReplacementDpEvent(N, BATCH, dp.GaussianDpEvent(sigma / 2)))


def truncated(sigma: float) -> dp.DpEvent:
    # Everything is sampled, then cut to a random BATCH of it: a sample of fixed size by another name.
    return composed(dp.dp_event.TruncatedSubsampledGaussianDpEvent(N, 1.0, BATCH, sigma))


def epsilon(accountant: dp.PrivacyAccountant, event: dp.DpEvent) -> float:
    accountant.compose(event)
    return accountant.get_epsilon(DELTA)


def sigma(make_accountant, make_event, low: float, high: float) -> float:
    return dp.calibrate_dp_mechanism(
        make_accountant, make_event, 1.0, DELTA, dp.ExplicitBracketInterval(low, high), tol=PRECISION
    )


def prv_epsilon(error: float) -> float:
    accountant = DPSGDAccountant(
        noise_multiplier=1.0, sampling_probability=RATE, max_steps=N, eps_error=error, delta_error=DELTA / 1000
    )
    return accountant.compute_epsilon(delta=DELTA, num_steps=N)[2]


def prv_sigma(error: float) -> float:
    return find_noise_multiplier(
        sampling_probability=RATE, num_steps=N, target_epsilon=1.0, target_delta=DELTA, eps_error=error
    )


warnings.simplefilter("ignore")
versions("dp-accounting", "prv-accountant")
EPSILON, SIGMA = "ε at σ = C", "σ/C for ε = 1"
case = "Poisson, add or remove: "
race("accountant", case + EPSILON, "dp-accounting PLD", lambda: epsilon(pld(), poisson(1.0)), 3)
race("accountant", case + EPSILON, "prv-accountant, to 0.01", lambda: prv_epsilon(0.01), 3)
race("accountant", case + SIGMA, "dp-accounting PLD", lambda: sigma(pld, poisson, 0.5, 2.0))
race(
    "accountant",
    case + SIGMA,
    "prv-accountant, to 0.1" if QUICK else "prv-accountant, to 0.01",
    lambda: prv_sigma(0.1 if QUICK else 0.01),
)
case = "fixed size, replace one: "
race("accountant", case + EPSILON, "dp-accounting RDP", lambda: epsilon(rdp_replace(), without_replacement(1.0)))
race("accountant", case + EPSILON, "dp-accounting PLD, truncated", lambda: epsilon(pld(REPLACE), truncated(1.0)))
race("accountant", case + SIGMA, "dp-accounting RDP", lambda: sigma(rdp_replace, without_replacement, 1.0, 4.0))
race(
    "accountant", case + SIGMA, "dp-accounting PLD, truncated", lambda: sigma(lambda: pld(REPLACE), truncated, 1.0, 4.0)
)
