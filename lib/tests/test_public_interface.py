"""Every public name is documented, with an example that runs, and shown on a page of the reference."""

import inspect

import griffe
import pytest

import loadcurve
from loadcurve.site.interface import pages, public_modules

# Constants have a meaning but no call.
NEEDS_EXAMPLE = ("class", "function")
PUBLIC = [
    (path, name)
    for path, module in public_modules().items()
    for name in module.__all__
    if not inspect.ismodule(getattr(module, name))
]


@pytest.fixture(scope="module")
def source() -> griffe.Module:
    """The package as it is written: it has the docstrings of constants too."""
    return griffe.load("loadcurve", resolve_aliases=True)


def test_every_public_name_has_documentation_and_an_example(source):
    missing = []
    for path, name in PUBLIC:
        written = source[f"{path}.{name}".partition(".")[2]]
        written = written.final_target if written.is_alias else written
        if not written.docstring:
            missing.append(f"{path}.{name}: no documentation")
        elif written.kind.value in NEEDS_EXAMPLE and ">>>" not in written.docstring.value:
            missing.append(f"{path}.{name}: no example")
    assert not missing, "\n".join(missing)


def test_a_name_that_is_imported_late_is_the_name_that_is_declared(source):
    assert sorted(loadcurve.__all__) == loadcurve.__all__ == dir(loadcurve)
    for name in loadcurve.__all__:
        value, declared = getattr(loadcurve, name), source.members[name]
        found = value.__name__ if inspect.ismodule(value) else f"{value.__module__}.{name}"
        assert found == (declared.final_target.path if declared.is_alias else declared.path)


def test_every_public_module_has_its_page(root):
    assert list(pages()) == list(public_modules()) > ["loadcurve"]
    assert "reference/python/index.md" in (root / "mkdocs.yml").read_text("utf-8")
    assert "{{ modules_table() }}" in (root / "handbook/reference/python/index.md").read_text("utf-8")
