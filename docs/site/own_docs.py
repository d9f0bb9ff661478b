"""Hides what has no documentation of its own: a parameter's default, `"auto"`, would be described as Python describes text."""

from __future__ import annotations

from typing import Any

import griffe


class OwnDocs(griffe.Extension):
    """Forgets documentation that an attribute has from the type of its value."""

    def on_attribute_instance(self, *, node: Any, attr: griffe.Attribute, **_: Any) -> None:
        if attr.docstring and getattr(node, "obj", None).__doc__ == type(getattr(node, "obj", None)).__doc__:
            attr.docstring = None
