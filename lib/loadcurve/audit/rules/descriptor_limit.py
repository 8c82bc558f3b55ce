"""A process reached, or nearly reached, its limit of open files, at which it can open no further connection.

What it means
-------------
Each connection takes one descriptor, each proxied connection two. The rule looks for three traces: the error in the
generator's output or in the server's log; connections requested from one generator against its recorded limit; and
descriptors that `pidstat -v` counted against that limit.

Why it happens
--------------
The usual soft limit of a shell is 1,024 open files, and of a service of systemd too unless `LimitNOFILE=` says
otherwise.  wrk counts what it could not open as connect errors and ends with exit code 0.  ab stops: `socket: Too many
open files (24)`.  nginx logs `accept4() failed (24: Too many open files)`, or `512 worker_connections are not enough`
where its own setting is the lower one.

How to fix it
-------------
Generator: `ulimit -n 65536` in the shell that starts it.  nginx: `worker_rlimit_nofile 65536;` and `worker_connections
32768;`.  Check a worker by `grep 'open files' /proc/$(pgrep -of 'nginx: worker')/limits`.  Then repeat the run.

When to ignore it
-----------------
If one worker of many met its limit in the first second, while all connections arrived at it, and the run is long.
nginx's warning `4096 worker_connections exceed open file resource limit: 1024` at its start does no harm while a worker
has fewer connections than that.
"""

from collections.abc import Iterator, Mapping

import pandas as pd

from loadcurve.audit.hosts import OTHER_DESCRIPTORS, of_generator, setting_of
from loadcurve.audit.rule import Evidence, Finding, Limit, Need, Rule, Severity, judge_evidence, refusals
from loadcurve.audit.run_tables import Tables, key_of

_REFUSED = r"[Tt]oo many open files|worker_connections are not enough"
_RAISE = "Raise the limit of open files (`ulimit -n`; nginx: worker_rlimit_nofile and worker_connections), and repeat."
_NEEDS = "the limit of open files of the generator"
_RECORD = "Record the runs with `loadcurve launch`, which notes it, and keep the error log of the server."


def judge_descriptors(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each row of ``runs``: descriptors needed against the limit, and errors that report it."""
    said = refusals(tables, _REFUSED, "A limit of descriptors was reached", _RAISE)
    yield from judge_evidence(tables, (said, _of_generators(tables, limits)), f"needs {_NEEDS}", _RECORD)


def _of_generators(tables: Tables, limits: Mapping[str, float]) -> dict[str, Evidence]:
    """Evidence of each generator's connections, or descriptors, against its recorded limit."""
    runs = tables["runs"].assign(key=key_of(tables["runs"]))
    settings = of_generator(tables.get("settings"), runs)
    known = pd.to_numeric(setting_of(settings, "Max open files", "generator"), errors="coerce").dropna()
    requested = runs.dropna(subset=["connections"]).groupby("key")["connections"].max().astype(float)
    counted = _descriptors(tables)
    found = {}
    for key, limit in known.astype(float).items():
        number, words = requested.get(key), "connections were requested"
        if key in counted:
            number, words = counted[key], "descriptors were open"
        if number is None or limit <= 0:
            continue
        # Certain: a connection takes a descriptor, beside those that every process has.
        reached = number >= limit - OTHER_DESCRIPTORS if key in counted else number > limit - _STREAMS
        severity: Severity = "error" if reached else "warning" if number > limits["warning"] * limit else "ok"
        text = f"{number:.0f} {words} from a generator that may have {limit:.0f} open files."
        found[str(key)] = Evidence(severity, text, _RAISE, number, limit)
    return found


_STREAMS = 4  # standard input, output and error, and an epoll instance


def _descriptors(tables: Tables) -> dict[str, float]:
    """Most descriptors that pidstat counted of each run's generator, by key."""
    processes = of_generator(tables.get("processes"), tables["runs"])
    if processes.empty:
        return {}
    tools = dict(zip(key_of(tables["runs"]), tables["runs"]["tool"].astype(object), strict=True))
    own = processes[processes["command"].astype(object) == processes["key"].map(tools)]
    most: dict[str, float] = own.groupby("key")["descriptors"].max().dropna().astype(float).to_dict()
    return most


RULE = Rule(
    "descriptor-limit",
    "Did every process have file descriptors to spare?",
    judge_descriptors,
    {
        "ok": "at most 90 % of the generator's limit",
        "warning": "more than 90 %",
        "error": "more connections than the limit allows, or a tool or the server's log reports the error",
    },
    limits={"warning": Limit(0.9, "files of the program, name resolution and retries take descriptors too")},
    needs=(
        Need(
            "settings",
            ("setting", "value"),
            _NEEDS,
            _RECORD,
            alternatives=(Need("runs", ("reason",)), Need("events", ("text",))),
        ),
    ),
    unfinished=True,
    family="Load delivered",
)
