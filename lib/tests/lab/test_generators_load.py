"""Settings of a load: what is refused, how a load is divided, what the commands say."""

import json
import re
import shutil
import subprocess
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from one_test import in_one_test

from loadcurve.errors import ValueRuleError
from loadcurve.ingest.load_options import options_of
from loadcurve.lab.known_tools import TOOLS
from loadcurve.lab.tools.generators import GENERATORS, command_of, generator_named
from loadcurve.lab.tools.generators.generator import Load, split

URL = "http://127.0.0.1:8080/"
LOOPS = {"wrk2": "open", "oha": "both", "k6": "both", "h2load": "both"}


def load(tool, /, **changes):
    bound = {"requests": 1000} if "duration_s" not in GENERATORS[tool].bounds else {"duration_s": 2}
    rate = {"rate_rps": 100} if GENERATORS[tool].loop == "open" else {}
    made = Load(**({"tool": tool, "url": URL, "connections": 8} | bound | rate | changes))
    generator_named(made.tool).check(made)
    return made


@pytest.mark.parametrize("tool", GENERATORS)
def test_every_generator_is_a_known_tool_and_names_its_loop(tool):
    made = command_of(load(tool))
    assert tool in TOOLS
    assert made.argv[0] == made.tool == tool
    assert GENERATORS[tool].loop == LOOPS.get(tool, "closed")
    assert all(isinstance(word, str) and word for word in made.argv)
    assert made.limit_s > 2


URLS = [
    "", "/", "127.0.0.1:80/", "-c1", "--help", "ftp://h/", "file:///etc/passwd", "http://", "http:///x", "http://h:0/",
    "http://h:99999/", "http://-h/", "http://u@h/", "http://u:p@h/", "http://h/#f", "http://h/ x", "http://h/\n",
    "http://h/'x", 'http://h/"x', "http://h/`x`", "http://h/\\x", "http://h/é", "http://h/{x}", None, 8,
]  # fmt: skip
# What could be another header.
HEADERS = [
    ("X\r\nHost", "x"), ("", "x"), ("-H", "x"), ("X y", "x"), ("X:", "x"), ("Content-Length", "5"),
    ("transfer-encoding", "chunked"), ("Connection", "close"), ("X", "a\r\nEvil: 1"), ("X", ""), ("X", " a"),
    ("X", "a\n"), ("X", "\0"), ("X", "é"), ("X", 5), (5, "x"),
]  # fmt: skip


@in_one_test(
    ("tool", "changes", "name"),
    [
        *(("wrk", {"url": url}, "url") for url in URLS),
        *(("wrk", {"headers": {name: value}}, "headers") for name, value in HEADERS),
        ("wrk", {"tool": "sh"}, "tool"),
        ("wrk", {"connections": 0}, "connections"),
        ("wrk", {"connections": "8 -s evil.lua"}, "connections"),
        ("wrk", {"connections": 8.0}, "connections"),
        ("wrk", {"connections": True}, "connections"),
        ("wrk", {"threads": 0}, "threads"),
        ("wrk", {"connections": 100, "threads": 12}, "connections"),
        ("wrk", {"duration_s": 0}, "duration_s, requests"),
        ("wrk", {"requests": 10}, "duration_s, requests"),
        ("wrk", {"duration_s": 0, "requests": 10}, "requests"),
        ("wrk", {"duration_s": 1.5}, "duration_s"),
        ("wrk", {"duration_s": float("nan")}, "duration_s, requests"),
        ("wrk", {"duration_s": float("inf")}, "duration_s"),
        ("wrk", {"timeout_s": 0}, "timeout_s"),
        ("hey", {"timeout_s": 0.5}, "timeout_s"),
        ("wrk", {"rate_rps": 100}, "rate_rps"),
        ("wrk2", {"rate_rps": 0}, "rate_rps"),
        ("wrk2", {"rate_rps": "100"}, "rate_rps"),
        ("wrk", {"method": "HEAD"}, "method"),
        ("wrk", {"method": 'GET"; os.execute("x")'}, "method"),
        ("weighttp", {"method": "POST", "body_bytes": 5}, "method"),
        ("wrk", {"method": "POST"}, "body_bytes"),
        ("wrk", {"body_bytes": 5}, "body_bytes"),
        ("weighttp", {"requests": 0, "duration_s": 2}, "duration_s"),
        ("weighttp", {"requests": 7}, "requests"),
        ("ab", {"threads": 2}, "threads"),
        ("h2load", {"keep_alive": False}, "keep_alive"),
        ("wrk", {"keep_alive": "no"}, "keep_alive"),
        ("wrk", {"processes": 9}, "connections"),
        ("wrk", {"processes": 0}, "processes"),
        ("wrk", {"connections": 10, "threads": 2, "processes": 4}, "connections"),
        ("wrk2", {"processes": 8, "rate_rps": 7}, "rate_rps"),
        ("wrk", {"headers": "X: y"}, "headers"),
        ("hey", {"duration_s": 0, "requests": 1000, "connections": 64}, "requests"),
        ("k6", {"rate_rps": 100}, "from_due"),
        ("h2load", {"rate_rps": 100}, "from_due"),
        ("hey", {"duration_s": 0, "requests": 1000, "connections": 10, "processes": 3}, "requests"),
        ("ab", {"mix": {"/": 1}}, "mix"),
        ("wrk", {"mix": {"/a": 0}}, "mix"),
        ("k6", {"mix": {"//other.example/": 1}}, "mix"),
        ("wrk", {"mix": {".other.example/": 1}}, "mix"),
        ("wrk", {"mix": {"/a": 999, "/b": 2}}, "mix"),
        ("wrk", {"mix": {'/"': 1}}, "url"),
        ("wrk", {"mix": {"/": 1}, "script": "x = 1"}, "mix"),
        ("k6", {"script": "x = 1"}, "script"),
        ("wrk", {"method": "POST", "body_bytes": 5, "body": "a"}, "body_bytes"),
        ("wrk", {"body": "a"}, "body_bytes"),
    ],
)
def test_what_a_tool_does_not_take_is_refused(tool, changes, name):
    with pytest.raises(ValueRuleError, match=f"^{name} must be"):
        load(tool, **changes)


@in_one_test("stem", ["", "-x", "a/b", "../x", "a.b", "x" * 40, None])
def test_a_command_is_of_one_process_and_its_files_keep_to_the_runs_folder(stem):
    with pytest.raises(ValueRuleError, match="stem must be"):
        command_of(load("wrk"), stem)
    with pytest.raises(ValueRuleError, match="processes must be 1 here"):
        command_of(load("wrk", processes=2))


@pytest.mark.parametrize("tool", GENERATORS)
def test_files_are_named_by_host_and_tool(tool):
    method = {"method": "POST", "body_bytes": 100} if "POST" in GENERATORS[tool].methods else {}
    each = {"each_request": GENERATORS[tool].logs_requests}
    made = command_of(load(tool, **method, **each), "C1-2")
    for name in (*made.files, *made.outputs.values()):
        assert name.startswith(f"C1-2.{tool}.")
        assert any(name in word for word in made.argv), "each file is one that the command names"


def test_the_url_without_a_path_gets_one_where_the_tool_needs_it():
    assert command_of(load("ab", url="http://127.0.0.1:8080")).argv[-1] == URL


@pytest.mark.parametrize("tool", GENERATORS)
@pytest.mark.parametrize(
    ("scheme", "address", "endpoint"), [("http", "127.0.0.1", "127.0.0.1:8443"), ("https", "::1", "[::1]:8443")]
)
def test_connections_go_to_the_checked_address_and_requests_name_the_host(tool, scheme, address, endpoint):
    made = command_of(load(tool, url=f"{scheme}://shop.example:8443/", address=address))
    words, text = " ".join(made.argv), "".join(made.files.values())
    if tool in ("ab", "hey", "weighttp"):  # the server name of TLS is the Host header, so without a port
        option = "-host" if tool == "hey" else "-H Host:"
        assert f"{option} shop.example{':8443' if scheme == 'http' else ''} " in words
        assert made.argv[-1] == f"{scheme}://{endpoint}/"
        return
    assert f"{scheme}://shop.example:8443/" in (text if tool == "k6" else words)
    how = {"h2load": f"--connect-to={endpoint} ", "oha": f"--connect-to shop.example:8443:{endpoint} "}
    how |= {"k6": f'"shop.example": "{address}"', "wrk": f'resolve("{address}", service)'}
    assert how.get(tool, how["wrk"]) in (words if tool in ("h2load", "oha") else text)


@pytest.mark.parametrize(("tool", "option"), [("hey", ("-host", "a")), ("h2load", ("-H", ":authority: a"))])
def test_the_studys_own_host_header_is_the_one_that_is_sent(tool, option):
    """By its -H, hey sends none and h2load a second one."""
    words = command_of(load(tool, headers={"host": "a"})).argv
    assert option in pairwise(words) and not any(word.lower() == "host: a" for word in words)
    words = command_of(load("wrk", headers={"host": "a"})).argv
    assert "Host: a" in words, "wrk adds its own beside any other spelling"


@given(connections=st.integers(1, 5000), processes=st.integers(1, 64), requests=st.integers(1, 10**6))
def test_a_load_is_divided_exactly(connections, processes, requests):
    if connections < processes or requests < connections:
        return
    whole = Load("h2load", URL, connections, requests=requests, processes=processes)
    parts = split(whole)
    assert len(parts) == processes
    for name in ("connections", "requests"):
        shares = [getattr(part, name) for part in parts]
        assert sum(shares) == getattr(whole, name)
        assert max(shares) - min(shares) <= 1
    assert {part.processes for part in parts} == {1}


def test_a_rate_is_divided_too():
    parts = split(load("wrk2", processes=3, connections=9, rate_rps=100))
    assert [part.rate_rps for part in parts] == [34, 33, 33]


# weighttp 0.4 and wrk2 are not in Debian.  These are the options of their own help (``show_help`` in weighttp's
# src/weighttp.c; README.md of wrk2): where the tools are installed, test_generators_real runs them.
def test_weighttp_is_called_as_its_help_says():
    argv = command_of(load("weighttp", requests=1000, threads=2, headers={"X-Case": "a b"})).argv
    assert argv == ("weighttp", "-n", "1000", "-c", "8", "-t", "2", "-k", "-H", "X-Case: a b", URL)
    assert "-k" not in command_of(load("weighttp", keep_alive=False)).argv


def test_h2load_gets_the_rate_of_each_connection():
    """A connection that waits for its next request is not idle for longer than it may be."""
    argv = command_of(load("h2load", rate_rps=100, connections=1600, from_due=False)).argv
    assert "--rps=0.062500" in argv and argv[argv.index("-N") + 1] == "20000ms"  # 4 s, and 16 s between two requests
    argv = command_of(load("h2load", rate_rps=100, connections=3, from_due=False)).argv
    assert options_of("h2load", argv)["target_rate_rps"] == pytest.approx(100, rel=1e-6)
    assert not any(word.startswith("--rps") for word in command_of(load("h2load")).argv)


def test_oha_counts_from_when_a_request_was_due_unless_it_is_told_not_to():
    argv = command_of(load("oha", rate_rps=200, duration_s=3)).argv
    assert argv[:8] == ("oha", "--no-tui", "-c", "8", "-z", "3000ms", "-q", "200") and "--latency-correction" in argv
    assert "--latency-correction" not in command_of(load("oha", rate_rps=200, from_due=False)).argv
    assert "-q" not in command_of(load("oha")).argv
    for tool, changes in (("oha", {}), ("wrk2", {"rate_rps": 100}), ("wrk", {})):
        with pytest.raises(ValueRuleError, match="from_due must be true"):
            load(tool, from_due=False, **changes)


@pytest.mark.parametrize(
    ("changes", "scenario"),
    [
        ({"duration_s": 2}, {"executor": "constant-vus", "vus": 8, "duration": "2000ms"}),
        (
            {"duration_s": 0, "requests": 90},
            {"executor": "shared-iterations", "vus": 8, "iterations": 90},
        ),
        (
            {"duration_s": 1.5, "rate_rps": 200, "from_due": False},
            {
                "executor": "constant-arrival-rate", "duration": "1500ms", "rate": 200, "timeUnit": "1s",
                "preAllocatedVUs": 8, "maxVUs": 8,
            },
        ),
    ],
)  # fmt: skip
def test_k6_runs_a_script_with_one_scenario(changes, scenario):
    made = command_of(load("k6", keep_alive=False, headers={"X-Case": 'a "b"'}, **changes))
    assert made.argv == ("k6", "run", "--no-color", "--no-usage-report", "--address=", "/proc/self/cwd/local.k6.js")
    text = made.files["local.k6.js"]
    options = json.loads(re.search(r"^export const options = (.*?^});", text, re.MULTILINE | re.DOTALL)[1])
    assert options["scenarios"] == {"load": scenario | {"gracefulStop": "4000ms"}}
    assert options["noConnectionReuse"] and (options["maxRedirects"], options["hosts"]) == (0, {})
    assert json.loads(re.search(r"^const params = (.*);$", text, re.MULTILINE)[1])["headers"] == {"X-Case": 'a "b"'}
    assert f'const urls = ["{URL}"];' in text


def test_wrk2_is_called_as_its_readme_says():
    argv = command_of(load("wrk2", rate_rps=2000, threads=2, duration_s=30)).argv
    assert argv == ("wrk2", "-R2000", "-t2", "-c8", "-d30s", "--timeout", "4s", "--latency", URL)
    made = command_of(load("wrk2", method="POST", body_bytes=20))
    assert made.files == {
        "local.wrk2.lua": ('-- The request of this load.\nwrk.method = "POST"\nwrk.body = string.rep("x", 20)\n')
    }


@pytest.mark.parametrize("tool", ["wrk", "ab", "h2load", "hey"])
def test_every_option_stands_in_the_tools_own_help(tool):
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed: {TOOLS[tool].remedy}")
    flag = {"wrk": [], "hey": []}.get(tool, ["-h"])
    done = subprocess.run([tool, *flag], capture_output=True, text=True, timeout=120, check=False)
    words = (done.stdout + done.stderr).replace(",", " ").replace("=", " ").split()
    methods = [m for m in GENERATORS[tool].methods if m in ("GET", "POST", "PUT", "HEAD", "DELETE")]
    for method in methods:
        body = {"body_bytes": 9} if method in ("POST", "PUT") else {}
        each = {"each_request": True} if tool in ("ab", "h2load") else {}
        made = load(tool, method=method, headers={"X": "y"}, **body, **each)
        for word in command_of(made).argv:
            option = word.partition("=")[0]
            if option.startswith("-") and option != "--":
                assert option in words or option[:2] in words, f"{tool} knows no {option}"
