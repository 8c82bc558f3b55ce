"""What the laboratory offers, for its reference page: each recipe by its name in a study, said by its own docstring."""

import inspect
import re
from collections.abc import Callable
from types import ModuleType

from loadcurve import paths
from loadcurve.lab import describe, monitors, read_checked
from loadcurve.lab.faults import FAULTS, FaultKind
from loadcurve.lab.generators import GENERATORS
from loadcurve.lab.hosts.network.named_topologies import TOPOLOGIES
from loadcurve.lab.schedule.search import Capacity, NarrowMean, SaturatingSize
from loadcurve.lab.servers import Burn, Delay, Files, Status, Text, apache, caddy, lighttpd
from loadcurve.lab.study_file import balancers, servers
from loadcurve.lab.study_file.servers import ServerSection
from loadcurve.site.literal import literal

RECIPES: dict[str, dict[str, object]] = {
    "topologies": dict(TOPOLOGIES),
    "servers": {
        "nginx": servers.NginxSection,
        "apache": apache,
        "lighttpd": lighttpd,
        "caddy": caddy,
        "haproxy": servers.HaproxySection,
        "php": servers.PhpSection,
        "wordpress": servers.WordpressSection,
        "url": (ServerSection, "url"),
    },
    "responses": {"text": Text, "files": Files, "delay": Delay, "burn": Burn, "status": Status},
    "balancers": {
        "nginx_l7": balancers.NginxL7Section,
        "nginx_stream": balancers.NginxStreamSection,
        "haproxy": balancers.HaproxyProxySection,
        "nft": balancers.NftSection,
        "ipvs": balancers.IpvsSection,
    },
    "generators": dict(GENERATORS),
    "monitors": dict(monitors.MONITORS),
    "faults": dict(FAULTS),
    "searches": {"capacity": Capacity, "saturating_size": SaturatingSize, "stop": NarrowMean},
}
"""Kind → name in a study → what it is: a function, a class, a module, or an attribute of a class."""

_BEGINS = r"(Return a fault that|Return|Command of|Search|Instead of one:) "


def recipes_markdown(kind: str) -> str:
    """Every recipe of a kind, as Markdown: its name in a study, and what its docstring says in a sentence or two."""
    rows = [f"| `{name}` | {_said(kind, name, recipe)} |" for name, recipe in RECIPES[kind].items()]
    return "\n".join(["| name | what it is |", "|---|---|", *rows])


def designs_markdown(link: Callable[[str], str]) -> str:
    """Every design, as Markdown: name, question, page of the report that it follows, and how long it takes."""
    rows = ["| name | question |", "|---|---|"]
    for file in sorted(paths.designs().glob("*/study.yml")):
        study = read_checked(file)
        takes = next(iter(describe(study))).rpartition(", ")[2].removesuffix(" in all").replace(" ", "\u00a0")
        follows = f"{_followed(file.read_text('utf-8'), link)}{takes}."
        rows.append(f"| <code>{literal(study.study)}</code> | {literal(study.question)}<br>{follows} |")
    return "\n".join(rows)


def _followed(design: str, link: Callable[[str], str]) -> str:
    """The page of the report that a design follows, where its comment names one."""
    named = re.search(r"handbook/(studies/\w+)\.md", design)
    if named is None or not (page := paths.root() / "handbook" / f"{named[1]}.md").is_file():
        return ""
    title = re.search(r"^# (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return f'After <a href="{link(f"{named[1]}.html")}">{literal(title[1])}</a>; ' if title else ""


def _said(kind: str, name: str, recipe: object) -> str:
    paragraphs = _paragraphs(recipe)
    first = _sentence(paragraphs[0])
    if kind == "topologies":
        taken = [f"`{one}`" for one in inspect.signature(recipe).parameters if one != "block"]
        return f"{first} Takes {', '.join(taken)}." if taken else first
    if kind == "generators":
        bounds = " or ".join(f"`{bound}`" for bound in GENERATORS[name].bounds)
        return f"{first}<br>{GENERATORS[name].loop.capitalize()} loop, ended by {bounds}."
    if isinstance(recipe, FaultKind):
        return f"{first}<br>{recipe.symptoms}"
    return first


def _paragraphs(recipe: object) -> list[str]:
    """Paragraphs of a docstring down to its first section, as Markdown."""
    if isinstance(recipe, tuple):
        owner, attribute = recipe
        found = re.search(rf"^ *[\w, ]*\b{attribute}\b[\w, ]* ?:?.*\n((?: {{4,}}.+\n?)+)", _doc(owner), re.MULTILINE)
        text = found[1] if found else ""
    else:
        text = _doc(recipe)
    text = re.split(r"\n[A-Z][a-z]+\n-{3,}", inspect.cleandoc(text))[0]
    text = re.sub(r"``(.+?)``", r"`\1`", text).replace("|", "\\|")
    return [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text.strip())]


def _doc(recipe: object) -> str:
    if hasattr(recipe, "description"):
        return recipe.description
    return inspect.cleandoc((recipe.__doc__ if isinstance(recipe, ModuleType) else inspect.getdoc(recipe)) or "")


def _sentence(paragraph: str) -> str:
    """The first sentence, without how code says it and where it sends a reader of code."""
    text = re.split(r"(?<=[.])\s", re.sub(rf"^{_BEGINS}", "", paragraph))[0]
    text = re.split(r"; (?:attributes|parameters|`\w+`) (?:as|and those) ", text)[0].rstrip(".")
    first = re.match(r"\w*", text)[0]
    # Names of programs stay as they are typed.
    begin = first if any(first in names for names in RECIPES.values()) else first[:1].upper() + first[1:]
    return f"{begin}{text[len(first) :]}."
