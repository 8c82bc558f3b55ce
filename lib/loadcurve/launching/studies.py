"""The text of a new study.yml, with a comment for each key that people change first; all studies with their state."""

import contextlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pandas as pd

from loadcurve.errors import LoadcurveError, ValueRuleError
from loadcurve.files import paths
from loadcurve.files.yaml_document import parse_yaml
from loadcurve.lab.schedule.feedback import read_answers
from loadcurve.lab.schedule.order import max_points
from loadcurve.lab.schedule.points import level_sets
from loadcurve.lab.study_file import read_checked, settings_of
from loadcurve.models.capacity import Objective
from loadcurve.study.records import read_run, run_folders
from loadcurve.units import parse_number

_RANGE = re.compile(r"\s*(\d+)\s*\.\.\s*(\d+)\s*")
_NAME = re.compile(r"[a-z0-9][a-z0-9_]*")

_TEXT = """\
# {name}: made by `loadcurve new`.  `loadcurve launch {name} --plan` shows what would run, and for how long.
# Every key is described in the handbook under Reference, study.yml; `loadcurve lab schema` completes them in editors.
study: {study}
question: {question}

{server}
# One run at each level of `factors`, `repeats` times, in random order.
load: {{tool: {tool}, duration_s: {seconds}{fixed}}}
factors:
  {factor}: {levels}

repeats: {repeats}      # blocks; each holds every level once.  Three show scatter, five or more narrow the intervals.
seed: 1       # of the random order
warm_up_s: 2     # load before each run that is not measured
monitors: {{sar: 1, ss_summary: 1}}   # seconds between samples
"""
_OWN_SERVER = "server: {{url: {url}}}   # it runs already; loadcurve only sends load to it\n{allowed}"
_ELSEWHERE = """\
allow_targets: [{host}]   # load may go to this host
# Only this machine is watched.  With a login there, the monitors run on the server's host as well (guide "Many
# machines"): topology: {{machines: {{C1: {{address: ADDRESS}}, S1: {{address: ADDRESS, ssh: "ssh://USER@HOST"}}}}}}
"""
_NGINX = "server: {nginx: {}}   # loadcurve starts its own nginx; see Reference, study.yml, for others\n"


def parse_levels(text: str) -> list[int]:
    """Return levels of a load from ``1..256`` (doubling, with both ends) or a list such as ``1,8,64``.

    Examples
    --------
    >>> parse_levels("1..10"), parse_levels("1, 8,64")
    ([1, 2, 4, 8, 10], [1, 8, 64])
    """
    found = _RANGE.fullmatch(text)
    parts = found.groups() if found else text.split(",")
    with contextlib.suppress(ValueRuleError):
        levels = [int(parse_number("level", part, 1, 10**12, whole=True)) for part in parts]
        if not found:
            return list(dict.fromkeys(levels))
        if levels[0] <= levels[1]:
            doubled = levels[:1]
            while doubled[-1] * 2 < levels[1]:
                doubled.append(doubled[-1] * 2)
            return list(dict.fromkeys([*doubled, levels[1]]))
    raise ValueRuleError("levels", "a range such as 1..256 or a list such as 1,8,64", text)


def study_text(
    name: str,
    *,
    url: str = "",
    tool: str = "wrk",
    connections: str = "1..256",
    rates: str = "",
    seconds: int = 10,
    repeats: int = 3,
) -> str:
    """Return the text of a study.yml that sweeps connections, or the offered rate of an open loop.

    Examples
    --------
    >>> print(study_text("shop", url="http://127.0.0.1:8080/", connections="1..4").splitlines()[2])
    study: shop
    """
    levels = parse_levels(rates or connections)
    if rates and len(parse_levels(connections)) > 1:
        raise LoadcurveError(f"connections must be one level where rates vary, such as 64, got {connections!r}")
    question = f"How do throughput and response time of {url or 'nginx'} depend on the number of connections?"
    return _TEXT.format(
        **_names(name),
        question=json.dumps(question) if url and _quoted(url) != url else question,
        server=_server(url) if url else _NGINX,
        tool=tool if re.fullmatch(r"\w+", tool) else json.dumps(tool),
        fixed=f", connections: {parse_levels(connections)[0]}" if rates else "",
        factor="rate_rps" if rates else "connections",
        levels=levels,
        seconds=seconds,
        repeats=repeats,
    )


_TEST = """\
# {name}: made by `loadcurve test`.  `loadcurve launch {name}` goes on with it.
study: {study}
question: {question}

{server}
load: {{tool: {tool}, duration_s: {seconds}{fixed}}}
{levels}
warm_up_s: 2
monitors: {{sar: 1, ss_summary: 1}}
"""
_SWEEP = "factors: {{connections: {levels}}}\nrepeats: 3\nseed: 1\n"
_SEARCH = """\
objective: {{{goal}}}
search:
  factor: {factor}
  capacity: {{lowest: {lowest}, highest: {highest}, width_ratio: 0.1, initial_s: 3, final_s: {last}, budget_s: {most}}}
"""
_RATE_TOOLS = ("oha", "k6", "wrk2")  # they print percentiles at a rate; h2load prints none
_CLOSED_TOOLS = ("wrk", "oha", "hey", "ab")
_RANGES = {"rate_rps": (16, 1_000_000), "connections": (1, 4096)}


def text_for_url(
    name: str, url: str, objective: Objective | None, installed: Callable[[str], bool], seconds: int, budget_s: int
) -> str:
    """Return the text of a study.yml that answers for a server that runs: its curve, or its capacity.

    With an objective, an open loop searches the highest rate that keeps it; where no generator with a rate is
    installed, a closed loop searches the highest number of connections.  `budget_s` is the time of load of the search.
    """
    tools = [tool for tool in (*(_RATE_TOOLS if objective else ()), *_CLOSED_TOOLS) if installed(tool)]
    if not tools:
        raise LoadcurveError(f"a test needs one of {', '.join(_CLOSED_TOOLS)}, got none: apt-get install wrk")
    factor = "rate_rps" if tools[0] in _RATE_TOOLS and objective else "connections"
    levels = _SWEEP.format(levels=parse_levels("1..256"))
    if objective:
        keys = {"failed_ratio": objective.maximum} if objective.column == "error_ratio" else _latency_keys(objective)
        goal = ", ".join(f"{key}: {value:.10g}" for key, value in keys.items())
        lowest, highest = _RANGES[factor]
        last = max(3, seconds)
        levels = _SEARCH.format(goal=goal, factor=factor, lowest=lowest, highest=highest, last=last, most=budget_s)
    fixed = ", connections: 256" if factor == "rate_rps" else ""
    fixed += ", from_due: false" if fixed and tools[0] == "k6" else ""
    return _TEST.format(
        **_names(name),
        question=json.dumps(f"What does {url} serve{f' with {objective}' if objective else ''}?"),
        server=_server(url),
        tool=tools[0],
        seconds=seconds,
        fixed=fixed,
        levels=levels,
    )


def _names(name: str) -> dict[str, str]:
    """Return the name of a study for its comments, and as YAML; `2024` and `null` are names."""
    if not _NAME.fullmatch(name):
        raise LoadcurveError(f"name must be lower case letters, digits and underscores, got {name!r}")
    return {"name": name, "study": _quoted(name)}


def _latency_keys(objective: Objective) -> dict[str, float]:
    found = re.fullmatch(r"latency_p(\d+(?:_\d+)?)_s", objective.column)
    if not found:
        raise LoadcurveError(f"objective must be a percentile such as p99=50ms, or errors=1%, got {objective}")
    return {"latency_s": objective.maximum, "quantile": float(found[1].replace("_", ".")) / 100}


def _server(url: str) -> str:
    """Return the section `server` of one that runs, and where the load may go."""
    host = None
    with contextlib.suppress(ValueError):
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    if not host or not re.fullmatch(r"https?://[^\s\"'\\]+", url):
        raise LoadcurveError(f"url must begin with http:// or https://, name a host and have no blanks, got {url!r}")
    local = host in ("localhost", "127.0.0.1", "::1")
    allowed = "" if local else _ELSEWHERE.format(host=_quoted(host))
    return _OWN_SERVER.format(url=_quoted(url), allowed=allowed)


def _quoted(text: str) -> str:
    """Return a text as YAML reads it in a list or mapping: a host may be the number 0 or 127.1, a URL may have a {."""
    if not re.fullmatch(r"[A-Za-z][\w./:-]*[\w/]", text):
        return json.dumps(text)
    document = parse_yaml(text, Path("study.yml"))
    return text if document == replace(document, values=text) else json.dumps(text)


COLUMNS = ["study", "state", "finished", "planned", "bytes", "last", "question"]


def list_studies() -> pd.DataFrame:
    """Return one row for each study and each design, by name.

    Examples
    --------
    >>> list_studies().set_index("study").loc[["connections_on_loopback", "nginx_objective"], "state"].to_list()
    ['finished', 'answered']
    """
    recorded: list[Path] = []
    with contextlib.suppress(LoadcurveError):  # outside a checkout
        recorded = sorted(paths.studies().glob("*/study.yml"))
    rows = [_row(file.parent, design=False) for file in recorded]
    names = {row["study"] for row in rows}
    designs = sorted(paths.designs().glob("*/study.yml"))
    rows += [_row(file.parent, design=True) for file in designs if file.parent.name not in names]
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.assign(last=pd.to_datetime(table["last"], utc=True))


def _row(folder: Path, *, design: bool) -> dict[str, object]:
    row: dict[str, object] = {"study": folder.name, "finished": 0, "planned": 0, "bytes": 0, "last": pd.NaT}
    try:
        study = read_checked(folder)
        planned = max_points(study, settings_of(study))
    except LoadcurveError as error:
        return row | {"state": "wrong", "question": str(error)}
    row |= {"planned": planned, "question": study.question}
    if design:
        return row | {"state": "design"}
    runs = [read_run(path) for path in run_folders(folder)]
    finished = [run for run in runs if run.status == "finished"]
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    last = max((pd.Timestamp(c.ended_at) for run in finished for c in run.commands if c.ended_at), default=pd.NaT)
    state = "finished" if len(finished) >= planned else "part" if finished else "not run"
    try:
        answers = read_answers(folder) if study.search or study.stop else []
    except LoadcurveError as error:
        return row | {"state": "wrong", "question": str(error)}
    arms = len(study.variants) * sum(1 for _ in level_sets(study))
    # A search may end with an objective that every load misses, hence without a value; a stop without one had no runs.
    if answers and sum(one.ended and (one.kind != "stop" or one.value is not None) for one in answers) == arms:
        state = "answered"  # by as many runs as it took, mostly fewer than the most planned
    return row | {"finished": len(finished), "bytes": size, "last": last, "state": state}
