"""Macros have functions, notebooks are in the navigation, formulas become MathML, and pages keep no script."""

import shutil
from importlib import import_module
from types import SimpleNamespace

import nbformat
import pytest
from conftest import ROOT
from mkdocs.exceptions import PluginError

from loadcurve.files.yaml_document import read_yaml
from loadcurve.site import hooks
from loadcurve.site.macros import LINKING, MACROS


@pytest.mark.parametrize("macro", MACROS)
def test_a_macro_has_its_function(macro):
    module, _, function = MACROS[macro].partition(":")
    assert callable(getattr(import_module(f"loadcurve.site.{module}"), function))


def test_macros_that_get_links_exist():
    assert MACROS.keys() >= LINKING


@pytest.mark.parametrize("name", ["50_x-Copy1", "3 a;id>PWNED;", "5`id`"])
def test_a_notebook_that_make_cannot_name_is_refused_in_one_line(tmp_path, name):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / f"{name}.ipynb").write_text("{}")
    with pytest.raises(
        PluginError, match="notebook must be named with lower case letters, digits and _, got"
    ) as caught:
        hooks.on_files([], SimpleNamespace(config_file_path=str(tmp_path / "mkdocs.yml")))
    assert str(caught.value).isprintable()


def test_a_notebook_is_in_the_navigation_because_its_file_is_there(tmp_path):
    """A toy notebook in a copy of the checkout: one file is written, and no list is edited."""
    shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks")
    toy = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# A toy\n\n**Why?**\n\nBecause.")])
    nbformat.write(toy, tmp_path / "notebooks" / "99_toy.ipynb")
    listed = read_yaml(ROOT / "mkdocs.yml").values["nav"]
    config = SimpleNamespace(nav=listed, config_file_path=str(tmp_path / "mkdocs.yml"))
    [section] = [section["Notebooks"] for section in hooks.on_config(config).nav if "Notebooks" in section]
    assert section[0] == {"Template": "notebooks/00_template.md"} and section[-1] == {"A toy": "notebooks/99_toy.md"}
    paths = [path for entry in section for path in entry.values()]
    assert paths == [f"notebooks/{path.stem}.md" for path in sorted((tmp_path / "notebooks").glob("*.ipynb"))]


def page(name):
    return SimpleNamespace(file=SimpleNamespace(src_uri=name), meta={})


def test_formulas_of_a_page_become_mathml():
    html = (
        '<p>so <span class="arithmatex">\\(N^* = R/D\\)</span></p>'
        '<div class="arithmatex">\\[X \\le \\frac{1}{D}\\]</div>'
    )
    made = hooks.on_page_content(html, page("method/a.md"), None, None)
    assert made.count("<math") == 2
    assert 'display="block"' in made and "<mfrac>" in made
    assert "arithmatex" not in made


def test_a_less_than_in_a_formula_is_a_less_than():
    html = '<span class="arithmatex">\\(a &lt; b\\)</span>'
    assert "<mo>&lt;</mo>" in hooks.on_page_content(html, page("a.md"), None, None)


def test_a_page_without_formulas_is_left_alone():
    assert hooks.on_page_content("<p>5 $ and 6 $</p>", page("a.md"), None, None) == "<p>5 $ and 6 $</p>"


def test_a_notebook_page_keeps_no_script():
    html = '<p onclick="x()">at <a href="javascript:x()">N</a></p><script src="https://cdn.example/x.js"></script>'
    made = hooks.on_page_content(html, page("notebooks/a.md"), None, None)
    assert made == "<p>at <a>N</a></p>"
