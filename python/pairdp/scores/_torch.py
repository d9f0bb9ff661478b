"""Modules of PyTorch as scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._blocks import Array, BlockScore, imported


class TorchScore(BlockScore):
    """A module of PyTorch as a score.

    Parameters
    ----------
    module : torch.nn.Module
        Takes rows, a tensor of shape (n_rows, n_columns), and returns a number for each. Training starts from its parameters as they are. Modules
        that mix rows (``BatchNorm``), draw at random (``Dropout`` in training mode) or change as they are called are refused.
    """

    packages = ("torch",)

    def __init__(self, module: Any) -> None:
        torch = imported("torch")
        for part in module.modules():
            name = type(part).__name__
            if isinstance(part, torch.nn.modules.batchnorm._BatchNorm):
                raise ValueError(
                    f"{name} mixes rows, so that one record would change the scores of others: use LayerNorm or none"
                )
            if isinstance(part, torch.nn.modules.dropout._DropoutNd) and part.training:
                raise ValueError(f"{name} draws at random: call module.eval() first, or leave it out")
        self.module = module
        self.function = type(module)
        self._shapes = [(name, value.shape, value.dtype) for name, value in module.named_parameters()]
        if not self._shapes:
            raise ValueError("the module has no parameters")
        self.parameters = int(sum(int(np.prod(shape)) for _, shape, _ in self._shapes))
        self._start = np.concatenate(
            [value.detach().numpy().astype(np.float64).ravel() for _, value in module.named_parameters()]
        )

    def initial(self, seed: int) -> Array:
        """Return the parameters that training starts from: those that the module had."""
        return self._start.copy()

    def block_scores(self, w: Array, X: Array) -> Any:
        """Return a number for each row of a block."""
        return self._call(w, X, gradients=False)

    def block_gradients(self, w: Array, X: Array) -> Any:
        """Return the gradient of each row of a block."""
        return self._call(w, X, gradients=True)

    def _call(self, w: Array, X: Array, *, gradients: bool) -> Any:
        torch = imported("torch")
        named = self._named(w)
        kind = self._shapes[0][2]
        rows = torch.as_tensor(np.ascontiguousarray(X)).to(kind)
        buffers = {name: value.detach().clone() for name, value in self.module.named_buffers()}
        before = {name: value.clone() for name, value in buffers.items()}

        def one(parameters: Any, row: Any) -> Any:
            return torch.func.functional_call(self.module, (parameters, buffers), (row.unsqueeze(0),)).reshape(())

        with torch.no_grad():
            over = (None, 0)
            found = torch.func.vmap(torch.func.grad(one) if gradients else one, in_dims=over)(named, rows)
        if any(not torch.equal(before[name], value) for name, value in buffers.items()):
            raise ValueError("the module has buffers that change as it is called, which carry one row to another")
        if not gradients:
            return found.to(torch.float64).numpy()
        parts = [found[name].reshape(len(X), -1).to(torch.float64).numpy() for name, _, _ in self._shapes]
        return np.concatenate(parts, axis=1)

    def _named(self, w: Array) -> dict[str, Any]:
        """Return parameters as the module names them."""
        torch = imported("torch")
        named, at = {}, 0
        for name, shape, kind in self._shapes:
            size = int(np.prod(shape))
            named[name] = torch.tensor(w[at : at + size]).to(kind).reshape(shape)
            at += size
        return named
