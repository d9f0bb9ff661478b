"""Your own network on all pairs: scores that code outside of pairdp computes.

A :class:`Score` gives each row a number, and adds up gradients of those numbers, each scaled down to a bound and times a charge. pairdp
makes charges of all pairs from the numbers, and noise of the bound. So any function that can be differentiated can be ranked by, at the noise
of a linear score. :class:`JaxScore` and :class:`TorchScore` wrap functions of JAX and modules of PyTorch; whoever has gradients of their own
derives from :class:`BlockScore`.

The guarantee rests on what the code does, which nobody can recompute: it must score each row by itself, and scale its gradient down. The
certificate says so, verifiers answer *yes, if the clip was as stated*, and :func:`check` looks for the faults that are common.
"""

from __future__ import annotations

from ._blocks import BLOCK, BlockScore, Score, clipped_sum
from ._check import Evidence, check
from ._jax import JaxScore
from ._torch import TorchScore

__all__ = ["BLOCK", "BlockScore", "Evidence", "JaxScore", "Score", "TorchScore", "check", "clipped_sum"]
