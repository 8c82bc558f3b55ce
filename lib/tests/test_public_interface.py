"""Every public name is documented, with an example that runs, and shown on a page of the reference."""

import ast
import inspect

import griffe
import pytest

import loadcurve
from loadcurve.site.interface import pages, public_modules

# Constants have a meaning but no call.
NEEDS_EXAMPLE = ("class", "function")
# The verbs of loadcurve's docstring whose return type is one; `check_*` returns its argument, whatever it is.
RETURNS = {
    "find": {"Estimate"}, "fit": {"Fit"}, "judge": {"Iterator[Finding]", "pd.DataFrame"}, "plot": {"Axes"},
    "solve": {"ClosedNetwork", "Station"}, "summarise": {"pd.DataFrame"},
}  # fmt: skip
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


@pytest.mark.parametrize("package", [loadcurve, loadcurve.models], ids=["loadcurve", "models"])
def test_a_name_that_is_imported_late_is_the_name_that_is_declared(source, package):
    assert sorted(package.__all__) == package.__all__ == dir(package)
    members = (source["models"] if package is loadcurve.models else source).members
    for name in package.__all__:
        value, declared = getattr(package, name), members[name]
        found = value.__name__ if inspect.ismodule(value) else f"{value.__module__}.{name}"
        assert found == (declared.final_target.path if declared.is_alias else declared.path)


def test_every_public_module_has_its_page(root):
    assert list(pages()) == list(public_modules()) > ["loadcurve"]
    assert "reference/python/index.md" in (root / "mkdocs.yml").read_text("utf-8")
    assert "{{ modules_table() }}" in (root / "handbook/reference/python/index.md").read_text("utf-8")


def test_a_verb_fixes_the_return_type(root):
    wrong = [
        f"{path.relative_to(root)}: {node.name} returns {ast.unparse(node.returns)}, not {' or '.join(RETURNS[verb])}"
        for path in sorted((root / "lib/loadcurve").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef) and "_" in node.name and (verb := node.name.split("_")[0]) in RETURNS
        if ast.unparse(node.returns) not in RETURNS[verb]
    ]
    assert not wrong, "\n".join(wrong)
    assert all(f"``{verb}_*``" in loadcurve.__doc__ for verb in RETURNS)
