"""Find the notebooks for the handbook: every notebook in `notebooks/` becomes a page of the site."""

import json
from pathlib import Path

TEMPLATE = "notebooks/00_template.ipynb"
"""Page that ``mkdocs.yml`` lists; the other notebooks are added after it."""


def pages(folder: Path) -> dict[str, str]:
    """Return the title (first heading) of each notebook of a folder, and the path of its page.

    The template is left out, because ``mkdocs.yml`` already lists it.
    """
    found = sorted(folder.glob("[0-9]*.ipynb"))
    return {_title(path): f"notebooks/{path.name}" for path in found if path.name != Path(TEMPLATE).name}


def _title(notebook: Path) -> str:
    for cell in json.loads(notebook.read_text("utf-8"))["cells"]:
        for line in "".join(cell["source"]).splitlines():
            if line.startswith("# ") and cell["cell_type"] == "markdown":
                return line.removeprefix("# ")
    return notebook.stem
