"""Functions of JAX as scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._blocks import Array, BlockScore, imported


class JaxScore(BlockScore):
    """A function of JAX as a score.

    ``JaxScore(lambda w, x: w @ x, np.zeros(3))`` is a linear score of three columns; ``docs/own_networks.md`` has a network.

    Parameters
    ----------
    fn : callable
        ``fn(params, x)`` returns the score of one row ``x`` as a scalar. It must look at nothing but its arguments.
    params : pytree, or callable
        Parameters to start from, or a function that returns them for a public seed (``start_seed`` of the estimator). Where they are float64,
        everything is computed in float64, otherwise in float32. Never take them from records.
    """

    packages = ("jax", "jaxlib")

    def __init__(self, fn: Callable[[Any, Any], Any], params: Any) -> None:
        imported("jax")
        self.function = fn
        self.params = params
        self._compiled: tuple[Any, Any] | None = None
        leaves = imported("jax.tree_util").tree_leaves(self._start(1))
        self.double = any(np.asarray(leaf).dtype == np.float64 for leaf in leaves)
        self.parameters = int(sum(np.size(leaf) for leaf in leaves))

    def initial(self, seed: int) -> Array:
        """Return the parameters that training starts from."""
        with self._precision():
            flat, _ = imported("jax.flatten_util").ravel_pytree(self._start(seed))
            return np.asarray(flat, dtype=np.float64)

    def unravel(self, w: Array) -> Any:
        """Return parameters as ``fn`` takes them, of a model's weights."""
        with self._precision():
            return self._unravel()(imported("jax.numpy").asarray(w))

    def block_scores(self, w: Array, X: Array) -> Any:
        """Return a number for each row of a block."""
        return self._call(0, w, X)

    def block_gradients(self, w: Array, X: Array) -> Any:
        """Return the gradient of each row of a block."""
        return self._call(1, w, X)

    def _call(self, which: int, w: Array, X: Array) -> Any:
        with self._precision():
            asarray = imported("jax.numpy").asarray
            return np.asarray(self._functions()[which](asarray(w), asarray(X)))

    def _functions(self) -> tuple[Any, Any]:
        if self._compiled is None:
            jax, unravel = imported("jax"), self._unravel()

            def one(w: Any, x: Any) -> Any:
                return imported("jax.numpy").reshape(self.function(unravel(w), x), ())

            over_rows = (None, 0)
            self._compiled = jax.jit(jax.vmap(one, over_rows)), jax.jit(jax.vmap(jax.grad(one), over_rows))
        return self._compiled

    def _unravel(self) -> Any:
        _, unravel = imported("jax.flatten_util").ravel_pytree(self._start(1))
        kind = np.float64 if self.double else np.float32
        return lambda w: unravel(w.astype(kind))

    def _start(self, seed: int) -> Any:
        return self.params(seed) if callable(self.params) else self.params

    def _precision(self) -> Any:
        jax = imported("jax")
        # Newer versions have it at the top.
        place = jax if hasattr(jax, "enable_x64") else imported("jax.experimental")
        return place.enable_x64(self.double)

    def __getstate__(self) -> dict[str, Any]:
        # Compiled code is made again where it is needed.
        return self.__dict__ | {"_compiled": None}
