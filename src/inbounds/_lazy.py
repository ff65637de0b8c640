"""Public names that are loaded at first use, so that a package is quick to import."""

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any


def loader(package: str, homes: Mapping[str, Iterable[str]]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package whose public names live in other modules.

    Parameters
    ----------
    package
        The name of the package, for the error about an unknown attribute.
    homes
        The names to load from each module. A module without names is an attribute itself, by the
        last part of its name.

    Examples
    --------
    >>> loader("tools", {"math": ["sqrt"]})("sqrt")(9.0)
    3.0
    >>> loader("tools", {"math": ["sqrt"]})("cube")
    Traceback (most recent call last):
    AttributeError: module 'tools' has no attribute 'cube'
    """
    home_of = {name: home for home, names in homes.items() for name in names}
    modules = {home.rpartition(".")[2]: home for home, names in homes.items() if not names}

    def load(name: str) -> Any:
        if name in modules:
            return importlib.import_module(modules[name])
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(home_of[name]), name)
        if package in sys.modules:
            setattr(sys.modules[package], name, value)  # so that this function is not called again
        return value

    return load
