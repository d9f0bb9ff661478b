"""Differentially private pairwise learning.

``PrivateRanker`` learns to rank from every pair of a positive and a negative record, under (epsilon, delta)
differential privacy for replacing any one record, and carries a certificate that anybody can check.
"""

from . import accounting
from ._core import __version__
from .exceptions import PrivacyBudgetError
from .ranking import PrivateRanker

__all__ = ["PrivacyBudgetError", "PrivateRanker", "__version__", "accounting"]
