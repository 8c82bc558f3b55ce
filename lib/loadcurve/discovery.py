"""Find what the modules of a package register.

A generator, server, balancer, monitor, fault, raw format or audit rule is registered once: a module-level constant of
its kind, in the module that implements it.  Everything else (schema, reference page, packages to install,
completeness tests) asks `registered` or `registered_by_name`.
"""

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import Protocol, TypeVar


class Named(Protocol):
    """A registration with a name."""

    @property
    def name(self) -> str:
        """Its own among those of its kind."""
        ...


T = TypeVar("T")
N = TypeVar("N", bound=Named)


def registered(package: ModuleType, kind: type[T]) -> tuple[T, ...]:
    """Return the module-level constants of a kind in a package, each once.

    Examples
    --------
    >>> import email.policy
    >>> email.policy.strict in registered(email, email.policy.EmailPolicy)
    True
    """
    found: dict[int, T] = {}
    for module in _modules(package):
        for value in vars(module).values():
            if isinstance(value, kind):
                found.setdefault(id(value), value)
    return tuple(found.values())


def registered_by_name(package: ModuleType, kind: type[N]) -> dict[str, N]:
    """Return the constants that `registered` finds, by their names, in the same order."""
    found = registered(package, kind)
    names = [one.name for one in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{package.__name__} registers {', '.join(twice)} twice")
    return dict(zip(names, found, strict=True))


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    """Every module below a package, by name; a folder added to the package's ``__path__`` counts as well."""
    for info in sorted(pkgutil.walk_packages(package.__path__, f"{package.__name__}."), key=lambda info: info.name):
        yield importlib.import_module(info.name)
