"""A secret is taken from the environment, reaches the server, and is in no file; one in clear is pointed out."""

import http.server

import pytest
from launched_runs import short_study
from private_services import answering

from loadcurve.cli import app
from loadcurve.errors import LabError
from loadcurve.files.secrets import conceal, secrets_in
from loadcurve.lab import describe, describe_obstacles, launch
from loadcurve.lab.hosts.tools import which
from loadcurve.lab.run.allowed_targets import check_targets
from loadcurve.study.records import read_run

VALUES = {"TOKEN": "s3cret-token", "HEAD": "s3cret/head+er=", "BODY": 's3cret"bo\\dy'}
LOAD = {
    "connections": 2, "path": "/x?token=${TOKEN}", "method": "POST", "body": '{"p": "${BODY}"}', "keep_alive": False,
    "headers": {"authorization": "Bearer ${HEAD}", "X-Text": "$${HEAD}"},
}  # fmt: skip


@pytest.fixture()
def server(tmp_path):
    def answer(request):
        body = request.rfile.read(int(request.headers["Content-Length"])).decode()
        got, server = (request.path, request.headers["Authorization"], request.headers["X-Text"], body), request.server
        server.got.add(got)
        files = [path for path in (tmp_path / "s").glob("*/*.lua") if path.stat().st_mode & 0o077]
        server.open_to_others |= {path.name for path in files if b"s3cret" in path.read_bytes()}
        request.send_response(200 if got == RECEIVED or server.redirect == "" else 307)
        request.send_header("Location", server.redirect)
        request.send_header("Content-Length", "0")
        request.end_headers()

    with answering(answer, http.server.ThreadingHTTPServer) as server:
        server.got, server.redirect, server.open_to_others = set(), "", set()
        yield server


RECEIVED = ("/x?token=s3cret-token", "Bearer s3cret/head+er=", "${HEAD}", '{"p": "s3cret"bo\\dy"}')


def study_of(server, **sections):
    sections = {"server": {"url": f"http://127.0.0.1:{server.server_port}"}, "load": LOAD} | sections
    return short_study("s", **sections)


@pytest.mark.lab
def test_values_reach_the_server_and_no_file(server, tmp_path, monkeypatch):
    for name, value in VALUES.items():
        monkeypatch.setenv(name, value)
    tools = [tool for tool in ("wrk", "ab", "h2load", "hey", "k6", "oha") if which(tool)]
    variants = {tool: {"load.tool": tool, "load.keep_alive": tool == "h2load"} for tool in tools}
    study = study_of(server, variants=variants, warm_up_s=1.0)
    assert not [line for line in describe(study) if "s3cret" in line]
    launch(study, tmp_path / "s")
    assert server.got == {RECEIVED}
    files = [path for path in (tmp_path / "s").rglob("*") if path.is_file()]
    assert files and not [path for path in files if any(v.encode() in path.read_bytes() for v in VALUES.values())]
    for tool in tools:
        run = read_run(tmp_path / "s" / f"{tool}-r1")
        (sent,) = (command for command in run.commands if command.role == "generator")
        assert run.status == "finished" and (tool == "k6" or "${TOKEN}" in " ".join(sent.argv))
    (words,) = (line for line in read_run(tmp_path / "s" / "wrk-r1").warnings if "verbatim" in line)
    assert "local.wrk.txt" in words and "Running 1s test @ http" in (tmp_path / "s/wrk-r1/local.wrk.txt").read_text()
    assert not server.open_to_others, "while they held values"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, r"\$\{TOKEN\} is not set in the environment: export TOKEN, or write \$\$\{TOKEN\}"),
        ({"TOKEN": "s3c"}, r"\$\{TOKEN\} must be one line of at least 6 characters"),
        ({"TOKEN": "123456.7"}, "no number"),
        ({"TOKEN": "s3cret token"}, r"load.url must be http.*with the value of \$\{TOKEN\}"),
    ],
)
def test_a_value_that_cannot_be_used_stops_before_any_request(server, monkeypatch, tmp_path, values, words):
    monkeypatch.delenv("TOKEN", raising=False)
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    study = study_of(server, load={"path": "/x?token=${TOKEN}"})
    with pytest.raises(LabError, match=words) as raised:
        launch(study, tmp_path / "s")
    assert "s3c" not in str(raised.value) and not server.got and not (tmp_path / "s").exists()
    assert f"cannot be launched: {raised.value}" in list(describe_obstacles(study))


def test_a_redirect_that_repeats_the_value_is_reported_by_its_name(server, monkeypatch):
    for name, value in VALUES.items():
        monkeypatch.setenv(name, value)
    server.redirect = "/other?token=s3cret-token"
    with pytest.raises(LabError, match=r"307 to http://127.*/other\?token=\$\{TOKEN\} and"):
        check_targets(study_of(server, load={**LOAD, "headers": {}}))
    assert conceal("s3cret%2Fhead%2Ber%3D", ["HEAD", "UNSET_OF_TESTS"]) == "${HEAD}"
    assert conceal(r's3cret\034bo\092dy, s3cret\"bo\\dy, s3cret"bo\dy', ["BODY"]) == "${BODY}, ${BODY}, ${BODY}"


SECRETS = {
    'headers: {Authorization: "Bearer abcdef"}': "header Authorization",
    'wrk.headers["Cookie"] = "sid=12345"': "header Cookie",
    '-H \\"X-Api-Key: abc123\\"': "header X-Api-Key",
    "<td>proxy-authorization: Basic dXNlcjpw</td><td>": "header proxy-authorization",
    "http://h/?a=1&amp;sig=abcd": "query parameter sig",
    "http://h/?key=AIzaSyA1234567890abcdefgh": "query parameter key, an API key",
    "http://u:p@h/": "user and password in a URL",
    "ab -n 1 -A bob:pw http://h/": "user and password for ab",
}
HARMLESS = """http://h/?key=user:17 http://h/?key=12345678901234567890123 http://h/?auth=1 http://h/?tokens=5000&sessions=1234
Authorization: Bearer ${TOKEN}
Authorization: Bearer <TOKEN>
wrk -H "Authorization: Bearer $TOKEN" http://h:80/x@y ssh://root@h:22 http://u:${P}@h/
cookie SRV insert; proxy_set_header Authorization ""; http_cookie = abcdef
hey -n 10 -c 5 http://a:80/"""


@pytest.mark.parametrize(("text", "what"), [*SECRETS.items(), (HARMLESS, None)])
def test_what_looks_like_a_secret(text, what):
    assert list(secrets_in(f"\n{text}")) == ([(2, what)] if what else [])


def test_a_secret_in_clear_is_pointed_out_before_others_get_it(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "study: s\nquestion: '?'\nserver: {url: 'http://127.0.0.1:9/?token=abc123'}\n"
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "study.yml").write_text(text)
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "wrk.txt").write_text(WRK)
    commands = ["launch ./s --plan", "pack ./s", "analyse raw -o r.html", "audit raw -o a.html --fail-on never"]
    for command, place in zip(commands, ("study.yml:3", "study.yml:3", "wrk.txt:1", "wrk.txt:1"), strict=True):
        app(command.split(), standalone_mode=False)
        (line,) = (line for line in capsys.readouterr().err.splitlines() if line.startswith("warning: "))
        assert f"{place}: holds a secret in clear (query parameter token): write ${{NAME}}" in line
        assert "abc123" not in line


@pytest.mark.lab
@pytest.mark.parametrize("command", ["new shop --url", "test"])
def test_a_secret_in_the_url_of_a_command_is_pointed_out_and_names_nothing(checkout, called, command):
    _, out, err = called(*command.split(), "http://127.0.0.1:9/a?token=abc123")
    name, line = ("shop", 4) if "shop" in command else ("test_127_0_0_1_9_a_1", 3)
    assert f"data/studies/{name}/study.yml:{line}: holds a secret in clear (query parameter token)" in err
    assert "abc123" not in err.replace("from http://127.0.0.1:9/a?token=abc123", "") + out


WRK = """Running 10s test @ http://10.0.0.1/?token=abc123
  2 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.20ms  300.00us   9.00ms   90.00%
    Req/Sec    25.00k     1.00k   27.00k    70.00%
  500000 requests in 10.00s, 120.00MB read
Requests/sec:  50000.00
Transfer/sec:     12.00MB
"""
