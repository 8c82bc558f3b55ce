"""The constants that the modules of a package define, to compare with the list of their kind."""

import importlib
import pkgutil


def constants_of(package, kind):
    """Return the module-level constants of a kind below a package, each once."""
    modules = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    found = (vars(importlib.import_module(info.name)).values() for info in modules)
    return list({id(one): one for values in found for one in values if isinstance(one, kind)}.values())
