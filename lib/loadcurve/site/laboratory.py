"""Generate the laboratory's reference page: every name that a study can use, with its description."""

import inspect
import re
from collections.abc import Callable

from loadcurve.files import paths
from loadcurve.lab import describe, read_checked
from loadcurve.lab.hosts.network.topology import TOPOLOGIES
from loadcurve.lab.schedule.goals import SearchSection, StopSection
from loadcurve.lab.study_file.json_schema import keys, meaning
from loadcurve.lab.study_file.sections import BalancerSection, MonitorsSection, ServerSection
from loadcurve.lab.tools.faults import FAULTS
from loadcurve.lab.tools.generators import GENERATORS
from loadcurve.lab.tools.servers.responses import ResponseSection
from loadcurve.site.literal import literal
from loadcurve.study.section import Choice


def _topologies() -> dict[str, str]:
    found = {}
    for name, topology in TOPOLOGIES.items():
        first = re.split(r"\.\s|; parameters", " ".join((inspect.getdoc(topology) or "").split()))[0].rstrip(".")
        taken = [f"`{one}`" for one in inspect.signature(topology).parameters if one != "block"]
        found[name] = f"{first}. Takes {', '.join(taken)}." if taken else f"{first}."
    return found


def _generators() -> dict[str, str]:
    return {
        name: f"{tool.description}<br>{tool.loop.capitalize()} loop{'s' * (tool.loop == 'both')}, ended by "
        f"{' or '.join(f'`{bound}`' for bound in tool.bounds)}."
        for name, tool in GENERATORS.items()
    }


def _alternatives(section: type[Choice]) -> dict[str, str]:
    return {key.name: key.meaning for key in keys(section) if key.name in section.alternatives()}


OFFERS: dict[str, Callable[[], dict[str, str]]] = {
    "topologies": _topologies,
    "servers": lambda: _alternatives(ServerSection),
    "responses": lambda: _alternatives(ResponseSection),
    "balancers": lambda: _alternatives(BalancerSection),
    "generators": _generators,
    "monitors": lambda: {key.name: key.meaning for key in keys(MonitorsSection)},
    "faults": lambda: {name: f"{fault.description}<br>{fault.symptoms}" for name, fault in FAULTS.items()},
    "searches": lambda: _alternatives(SearchSection) | {"stop": meaning(StopSection)},
}
"""Kind → names that a study can use, each with a description in Markdown."""


def recipes_markdown(kind: str) -> str:
    """Return a Markdown table of all entries of a kind: name in a study, and description."""
    rows = [f"| `{name}` | {text.replace('|', chr(92) + '|')} |" for name, text in OFFERS[kind]().items()]
    return "\n".join(["| name | description |", "|---|---|", *rows])


def designs_markdown(link: Callable[[str], str]) -> str:
    """Return a Markdown table of the designs: name; and question, report that the design follows, and duration."""
    rows = ["| name | question |", "|---|---|"]
    for file in sorted(paths.designs().glob("*/study.yml")):
        study = read_checked(file)
        # The first line of the description ends with the duration: "s: 2 runs of 5 s, 11 s in all".
        takes = next(iter(describe(study))).rpartition(", ")[2].removesuffix(" in all").replace(" ", "\u00a0")
        follows = f"{_followed(file.read_text('utf-8'), link)}{takes}."
        rows.append(f"| <code>{literal(study.study)}</code> | {literal(study.question)}<br>{follows} |")
    return "\n".join(rows)


def _followed(design: str, link: Callable[[str], str]) -> str:
    """Return a link to the report that a design follows; empty if the design's comment names no report."""
    named = re.search(r"handbook/(studies/\w+)\.md", design)
    if named is None or not (page := paths.root() / "handbook" / f"{named[1]}.md").is_file():
        return ""
    title = re.search(r"^# (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return f'After <a href="{link(f"{named[1]}.html")}">{literal(title[1])}</a>; ' if title else ""
