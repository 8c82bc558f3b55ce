"""No word of a study file becomes an option, ends a directive, leaves the run's folder or reaches a shell.

Each hostile value is put at each place that holds a word.  It is refused before anything starts, or what the laboratory
would run shows it as one harmless word: `arrange` gives every argv, every file's name and every file's text.
"""

import re
from pathlib import Path

import pytest
from one_test import in_one_test
from study_texts import written

from loadcurve.errors import LoadcurveError
from loadcurve.files.yaml_document import yaml_text
from loadcurve.lab.hosts.capabilities import ASSUMED
from loadcurve.lab.run.deployment import argvs
from loadcurve.lab.run.obstacles import deployments, first_points
from loadcurve.lab.study_file import check_study, read_checked
from loadcurve.lab.tools.monitors.monitor import watchers
from loadcurve.study import Study, settled

HOSTILE = [
    "-x", "--help", "-oProxyCommand=id", "a;b", "a}", "a{b", 'a"b', "a'b", "a\nb", "a\r\nX: y", "..", "../x", "/",
    "/etc/../x", "//x", "a\0b", "$(id)", "`id`", "a|b", "a&b", "a>b", "a b", "a#b", "a%h", "a\\", "~", "*", "", " ",
    "/x;return 200", '/x"', "/x'", "/x\n", "/$(id)", "/`id`", "/x|y", "/x#y", "/x y", "/../../etc/passwd", "/\0",
    "http://127.0.0.1/;id", "http://-x/", "http://a b/", "http://127.0.0.1\n/", "http://u:p@127.0.0.1/", "file:///x",
    "ssh://-x@h", "ssh://a@-h", "ssh://a@h:22 -x", "ssh://a@h\n", "ssh://a@$(id)", "ssh://a@h%h", "ssh://a;b@h",
    "127.0.0.1 -x", "127.0.0.1;", "0.0.0.0", "::1%$(id)", "1;2", "1\n2", "z" * 300, "${jndi:x}", "\u202e", "é",
]  # fmt: skip

WEB = {"load": {"tool": "ab"}}
NETWORK = {"topology": {"recipe": "client_server"}}
PROXY = {"topology": {"recipe": "client_proxy_servers"}}
KERNEL = {"topology": {"recipe": "client_l4_servers"}}
MACHINES = {
    "topology": {"machines": {"C1": {"ssh": "", "address": "10.0.0.1"}, "S1": {"ssh": "", "address": "10.0.0.2"}}}
}
SEARCH = {"objective": {"latency_s": 1}, "search": {"capacity": {"lowest": 1, "highest": 2, "final_s": 1}}}

# What is right otherwise, and a place that holds a word; `KEY` stands for a key that is the word,
# `LIST` for a list of one.
KEY, LIST = "KEY", "LIST"
PLACES = [
    *(
        ({"load": {"tool": tool, **more}}, "load.path")
        for tool, more in (("wrk", {}), ("wrk2", {"rate_rps": 9}), ("h2load", {}), ("weighttp", {"requests": 9}))
    ),
    *(
        ({"load": {"tool": tool}}, place)
        for tool in ("ab", "hey", "oha", "k6")
        for place in ("load.path", "load.method", "load.headers.Accept", f"load.headers.{KEY}")
    ),
    ({}, "load.tool"),
    ({}, "topology.recipe"),
    (MACHINES, "topology.machines.C1.ssh"),
    (MACHINES, "topology.machines.S1.ssh"),
    (MACHINES, "topology.machines.S1.address"),
    (MACHINES | {"load": {"connections": 2}}, f"topology.machines.{KEY}"),
    (NETWORK, f"hosts.{KEY}"),
    (NETWORK, "hosts.S1.congestion_control"),
    (NETWORK, f"hosts.S1.sysctls.{KEY}"),
    (NETWORK, ("hosts", "S1", "sysctls", "net.core.somaxconn")),
    (NETWORK, f"links.{KEY}"),
    (NETWORK, f"links.S1.offloads.{KEY}"),
    ({}, "server.nginx.process.program"),
    ({}, ("server", "nginx", "process", "modules", LIST)),
    ({}, "server.nginx.layout"),
    ({}, "server.nginx.serving.access_log"),
    ({}, f"server.{KEY}"),
    ({"server": {"apache": {}}}, "server.apache.program"),
    ({"server": {"lighttpd": {}}}, "server.lighttpd.program"),
    ({"server": {"caddy": {}}}, "server.caddy.program"),
    ({"server": {"haproxy": {}}}, "server.haproxy.process.program"),
    ({"server": {}}, "server.url"),
    (PROXY, "balancer.nginx_l7.process.program"),
    (PROXY, "balancer.nginx_l7.scheduler"),
    (PROXY, "balancer.nginx_l7.lookup"),
    (PROXY, ("balancer", "nginx_stream", "process", "modules", LIST)),
    (PROXY, "balancer.haproxy.mode"),
    (PROXY, "balancer.haproxy.process.program"),
    (KERNEL, "balancer.nft.scheduler"),
    (KERNEL, "balancer.ipvs.scheduler"),
    (KERNEL, "balancer.ipvs.forward"),
    ({}, f"monitors.{KEY}"),
    (NETWORK | {"fault": {"stop_server": True}}, "fault.host"),
    (NETWORK, f"fault.{KEY}"),
    (SEARCH, "search.factor"),
    ({}, "stop.quantity"),
    ({}, f"variants.{KEY}"),
    ({}, f"factors.{KEY}"),
    ({}, "study"),
    ({}, "question"),
    ({}, "design"),
    ({}, ("allow_targets", LIST)),
    ({}, ("factors", "path", LIST)),
    ({}, ("factors", "headers", LIST, "Accept")),
    ({}, f"points.{KEY}"),
]  # fmt: skip

# What k6's script quotes as JSON does.
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"(?=.*(?:\];|, body, params\);|"timeout": "[0-9]+ms"\};)$)')
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*")


def put(base, place, word):
    """A study with a word at a place."""
    path = place.split(".") if isinstance(place, str) else list(place)
    machine = MACHINES["topology"]["machines"]["C1"]
    filler = {"monitors": 1, "factors": [1], "fault": True, "points": 1}
    filler |= {"headers": "1", "sysctls": "1", "offloads": True, "machines": machine}
    value = word
    for step in reversed(path):
        if step == KEY:
            value = {word: filler.get(path[-2], {})}
        elif step == LIST:
            value = [value]
        elif step == "points":
            value = {step: [value]}
        else:
            value = {step: value}
    return merged({"study": "s", "question": "?", **base}, value)


def merged(one, other):
    if not isinstance(one, dict) or not isinstance(other, dict):
        return other
    return {**one, **{key: merged(one[key], value) if key in one else value for key, value in other.items()}}


def made(values):
    """The study of some values, checked as one that is read is."""
    study = Study(**values)
    check_study(study)
    return study


def arranged(study):
    """Argvs, texts of files and names that a study comes to."""
    words, texts, names = [], [], [point.run_id for point in first_points(study)]
    for _, made in deployments(study, ASSUMED):
        words += [argv for _, _, argv in argvs(made)]
        running = [service for _, service in made.services]
        if made.balanced:
            running.append(made.balanced.service or made.balanced.rules)
        for one in running:
            texts += one.files.values()
            names += [*one.files, *getattr(one, "folders", ())]
        for loader in made.loaders:
            texts += loader.generator.files.values()
            names += [*loader.generator.files, *loader.generator.outputs.values(), loader.stem]
        for host, chosen in made.monitors.items():
            for watcher in watchers(chosen, host):
                names += [*watcher.files, *watcher.outputs.values()]
    return words, texts, names


@pytest.mark.slow
@in_one_test(("base", "place"), PLACES, ids=lambda value: str(value) if not isinstance(value, dict) else "")
def test_a_hostile_word_is_refused_or_harmless(base, place):
    for word in HOSTILE:
        try:
            words, texts, names = arranged(made(put(base, place, word)))
        except LoadcurveError:
            continue
        assert all(NAME.fullmatch(name) and ".." not in Path(name).parts for name in names), (word, names)
        assert all(len(name) < 255 for name in names)
        if word in ("", " ", "~", "*", "/", "..", "é"):
            continue  # too short to be looked for; they passed as what they are
        for argv in words:
            for at, shown in enumerate(argv):
                if word in shown:
                    is_header = argv[at - 1] == "-H" and shown in (f"Accept: {word}", f"{word}: 1")
                    is_url = (
                        re.fullmatch(r"https?://[A-Za-z0-9.:\[\]]+" + re.escape(word), shown)
                        or shown.rstrip("/") == word
                    )
                    assert is_header or is_url, (word, argv)
                    assert at > 0 or re.fullmatch("[A-Za-z0-9/._+-]+", shown), "a program"
                    assert not shown.startswith("-"), (word, argv)
        directives = [line for text in texts for line in text.splitlines() if word in QUOTED.sub("", line)]
        # Of all words of a study only the paths of modules stand in a configuration.
        assert all(re.fullmatch(r"load_module /[A-Za-z0-9._+/-]+;", line) for line in directives), (word, directives)


@in_one_test(
    ("base", "place"),
    [(base, place) for base, place in PLACES if place not in ("question", ("allow_targets", LIST))],
    ids=lambda value: str(value) if not isinstance(value, dict) else "",
)
@in_one_test("word", ["a\nb", "a\0b", "a\r\nX: y"])
def test_line_breaks_and_zeros_pass_nowhere(base, place, word):
    """In argv they would be one word, and in a log two lines; nothing needs them."""
    with pytest.raises(LoadcurveError):
        arranged(made(put(base, place, word)))


def test_the_places_are_those_of_the_study(tmp_path):
    """Each place, given a word that is right there, makes a right study: so it was the word that was refused."""
    right = {
        "load.path": "/a", "load.method": "GET", "load.headers.Accept": "gzip", f"load.headers.{KEY}": "X-A",
        "load.tool": "wrk", "topology.recipe": "client_server", "topology.machines.C1.ssh": "ssh://a@b",
        "topology.machines.S1.ssh": "ssh://a@b", "topology.machines.S1.address": "10.0.0.9",
        f"topology.machines.{KEY}": "C2", f"hosts.{KEY}": "S1", "hosts.S1.congestion_control": "cubic",
        f"hosts.S1.sysctls.{KEY}": "net.core.somaxconn", ("hosts", "S1", "sysctls", "net.core.somaxconn"): "128",
        f"links.{KEY}": "S1", f"links.S1.offloads.{KEY}": "tso", "server.nginx.layout": "A",
        "server.nginx.serving.access_log": "on", f"server.{KEY}": "nginx", "server.url": "http://127.0.0.1/",
        "balancer.nginx_l7.scheduler": "lc", "balancer.nginx_l7.lookup": "map", "balancer.haproxy.mode": "tcp",
        "balancer.nft.scheduler": "hash", "balancer.ipvs.scheduler": "wlc", "balancer.ipvs.forward": "dr",
        f"monitors.{KEY}": "sar", "fault.host": "S1", f"fault.{KEY}": "drop_syn", "search.factor": "connections",
        "stop.quantity": "latency_mean_s", f"variants.{KEY}": "a", f"factors.{KEY}": "connections", "study": "s",
        "question": "a", "design": "grid", ("allow_targets", LIST): "a", ("factors", "path", LIST): "/a",
        ("factors", "headers", LIST, "Accept"): "a", f"points.{KEY}": "connections",
    }  # fmt: skip
    for base, place in PLACES:
        module = isinstance(place, tuple) and "modules" in place
        word = "/usr/lib/a.so" if module else right.get(place, "/usr/sbin/program")
        study = read_checked(written(tmp_path, yaml_text(put(base, place, word))))
        assert arranged(study)[0], (place, word)


def test_numbers_are_digits_on_a_command_line(tmp_path):
    """However a number is written, it is one that the tools read: no ``1e+06``, no ``inf``."""
    for changes in (
        {"load.connections": 1_000_000},
        {"load.duration_s": 86_400.0},
        {"load.tool": "hey", "load.duration_s": 0.001},
        {"load.tool": "h2load", "load.duration_s": 12345.678},
        {"load.tool": "ab", "load.requests": 10**12, "load.timeout_s": 86_400},
        {"load.tool": "wrk2", "load.rate_rps": 10**12, "load.threads": 1},
        {"load.tool": "weighttp", "load.requests": 1_234_567_890},
    ):
        text = yaml_text({"study": "s", "question": "?"} | settled({}, changes))
        words, _, _ = arranged(read_checked(written(tmp_path, text)))
        (argv,) = [argv for argv in words if {*argv} & {"wrk", "wrk2", "hey", "h2load", "ab", "weighttp"}]
        numbers = [word for word in argv if re.search(r"\d", word) and "/" not in word and "." not in word[-5:]]
        assert not [word for word in numbers if re.search(r"e[+-]?\d|inf|nan", word)], argv
