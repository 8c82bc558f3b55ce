"""Each server by a real launch: what it answers is what the study says, byte for byte."""

import pytest
from launched_runs import launched
from private_services import free_endpoint

pytestmark = pytest.mark.lab

# h2load counts the bytes of bodies apart, and a number of requests ends it.
LOAD = {"tool": "h2load", "requests": 200, "connections": 2}


def nginx(**response):
    return {"server": {"nginx": {"response": response}}}


def lengths(made):
    """Length of the body that each variant's server sent, in bytes."""
    runs = made.tables["runs"].set_index("variant")
    assert (runs["requests"] == 200).all() and (runs["errors_status"] == 0).all()
    return (runs["received_body_bytes"] / runs["requests"]).to_dict()


def test_every_response_of_nginx(tmp_path):
    made = launched(
        tmp_path / "s", load=LOAD,
        variants={
            "usual": {"server": {"nginx": {}}},
            "text": nginx(text={"body_bytes": 1232}),
            "file": nginx(files={"sizes_bytes": [100_000, 10]}),
            "other_file": {**nginx(files={"sizes_bytes": [100_000, 10]}), "path": "/10.bin"},
            "delay": nginx(delay={"delay_ms": 1, "body_bytes": 33}),
            "burn": nginx(burn={"steps": 50, "body_bytes": 7}),
            "mixed": nginx(mixed={"ratio": 0.9999, "other_bytes": 21, "delay_ms": 1}),
        },
    )  # fmt: skip
    expected = {"usual": 616, "text": 1232, "file": 100_000, "other_file": 10, "delay": 33, "burn": 7}
    bytes_each = lengths(made)
    assert 21 <= bytes_each.pop("mixed") < 40, "at most a few of 200 responses are the usual one"
    assert bytes_each == expected
    latency = made.tables["runs"].set_index("variant")["latency_mean_s"]
    assert latency["delay"] >= 0.001
    for run in made.runs.values():
        kept = {name.partition(".")[2] for name in run.files if name.startswith("S1.")}
        assert "conf" in kept and not [name for name in run.files if ".www" in name or ".work" in name]


def test_the_status_of_nginx(tmp_path):
    """Its page counts itself, so that its length grows with its numbers: a tool that does not mind is asked."""
    made = launched(tmp_path / "s", server=nginx(status={})["server"], load=LOAD)
    assert made.row["requests"] == 200 and made.row["errors_status"] == 0
    assert made.row["received_body_bytes"] > 200 * len("Active connections: 1 \nserver accepts handled requests\n")


def test_settings_of_nginx_reach_it(tmp_path):
    server = {
        "nginx": {
            "response": {"files": {"sizes_bytes": [5000]}},
            "process": {"workers": 2, "connections": 3000},
            "serving": {"access_log": "on", "gzip": True, "sendfile": False},
        },
        "port": (port := free_endpoint().port),
    }
    made = launched(
        tmp_path / "s", server=server, load={**LOAD, "headers": {"Accept-Encoding": "gzip"}},
        monitors={"ss_connections": 0.3},
    )  # fmt: skip
    text = (made.folder / "r1" / "S1.conf").read_text()
    for line in ("worker_processes 2;", "worker_connections 6000;", "sendfile off;", f"listen 127.0.0.1:{port} "):
        assert line in text
    assert made.row["received_body_bytes"] < 200 * 1000, "5000 times the same letter, compressed"
    log = (made.folder / "r1" / "S1.access.log").read_text().splitlines()
    assert len(log) >= 200 and '"GET / HTTP/1.1" 200' in log[-1]
    assert "S1.access.log" in made.run.files


SERVERS = {
    # apache closes connections when all its threads are busy: there are more of them than connections.
    "apache": ({"apache": {"files": {"sizes_bytes": [700]}, "workers": 25}}, 700),
    "lighttpd": ({"lighttpd": {"files": {"sizes_bytes": [800]}, "workers": 2}}, 800),
    "caddy": ({"caddy": {"files": {"sizes_bytes": [900]}}}, 900),
    "haproxy": ({"haproxy": {"response": {"body_bytes": 444}}}, 444),
}


def test_other_servers(tmp_path):
    variants = {name: {"server": server} for name, (server, _) in SERVERS.items()}
    made = launched(tmp_path / "s", load=LOAD, variants=variants)
    assert lengths(made) == {name: size for name, (_, size) in SERVERS.items()}
    for run in made.runs.values():
        (server,) = (c for c in run.commands if c.role == "server")
        assert {"apache": "apache2"}.get(run.factors["variant"], run.factors["variant"]) == server.tool


def test_apache_serves_every_connection_with_few_threads(tmp_path):
    """As many connections as it likes are kept alive beside the busy ones: none waits unheard."""
    server = {"apache": {"files": {"sizes_bytes": [700]}, "workers": 1}}
    made = launched(tmp_path / "s", server=server, load={"tool": "ab", "requests": 500, "connections": 64})
    assert made.row["requests"] == 500


def test_a_server_by_its_own_command(tmp_path):
    """It listens where it is told, is ready before the load, is stopped after it, and its log is kept."""
    (tmp_path / "www").mkdir()
    (tmp_path / "www/index.html").write_text("x" * 123)
    argv = ["python3", "-u", "-m", "http.server", "{port}", "--bind", "{address}", "-d", str(tmp_path / "www")]
    made = launched(
        tmp_path / "s", server={"command": {"argv": argv, "ready": "/index.html"}},
        hosts={"local": {"as_root": "the folders of pytest are closed to others"}},
        load={"tool": "ab", "requests": 40, "connections": 2, "keep_alive": False},
    )  # fmt: skip
    assert made.row["requests"] == 40 and made.row["received_body_bytes"] == 40 * 123
    (server,) = made.commands("server")
    log = (made.folder / "r1" / server.stderr).read_text()
    assert server.tool == "python3" and log.count('"GET / HTTP/1.0" 200') == 40 and "/index.html" in log
    assert server.exit_code == -15, "stopped by the laboratory"


def test_php_with_its_database(tmp_path):
    page = {"body_bytes": 321, "queries": 2, "wait_ms": 10, "steps": 10}
    made = launched(
        tmp_path / "s", server={"php": {"children": 2, "page": page}},
        load={"tool": "ab", "requests": 40, "connections": 4},
    )  # fmt: skip
    assert [c.tool for c in made.commands("server")] == ["mariadbd", "php-fpm", "nginx"]
    assert made.row["received_body_bytes"] == 40 * 321 and made.row["errors_status"] == 0
    # Two children, each 2 × 10 ms for a page: no more than 100 pages a second, and four wait 40 ms each.
    assert made.row["throughput_rps"] <= 2 / 0.020
    assert made.row["latency_mean_s"] >= 0.040


def test_wordpress(tmp_path):
    made = launched(
        tmp_path / "s", server={"wordpress": {"children": 2}}, load={"tool": "ab", "requests": 6, "connections": 2}
    )
    assert made.row["requests"] == 6 and made.row["errors_status"] == 0
    assert made.row["received_body_bytes"] > 6 * 10_000, "a whole page with its theme"


# How many sockets listen, on how many addresses and ports: by the names of the layouts (see `layouts`).
LAYOUTS = {
    "A": (1, {"10": {8080}}),
    "B": (1, {"*": {8080}}),
    "C": (1, {"10": {8080}}),
    "D": (2, {"10": {8080}}),
    "E": (2, {"*": {8080, 8081}}),
    "reuseport": (2, {"10": {8080}}),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout(tmp_path, layout):
    made = launched(
        tmp_path / "s", topology={"recipe": "client_server", "addresses": 2},
        server={"nginx": {"layout": layout, "process": {"workers": 2}}},
        load={**LOAD, "connections": 4, "processes": 2}, monitors={"ss_connections": 0.2},
    )  # fmt: skip
    sockets, ports = LAYOUTS[layout]
    rows = made.of("connections", "S1").query("state == 'LISTEN'")
    listening = rows[rows["time"] == rows["time"].min()]
    assert len(listening) == sockets and set(listening["send_queue"]) == {1024}, "the backlog"
    of = listening["local_address"].str.partition(".")[0].replace({"0": "*"})
    assert {name: set(listening.loc[of == name, "local_port"].astype(int)) for name in set(of)} == ports
    assert listening["local_address"].nunique() == (2 if layout == "D" else 1)
    instances = made.commands("server")
    assert len(instances) == (2 if layout == "E" else 1)
    # D and E are asked at each address or port alike.
    assert len(made.run.factors["url"].split()) == (2 if layout in "DE" else 1)
    assert made.tables["runs"]["requests"].tolist() == [100, 100]


def test_apache_has_threads_enough_unless_the_study_names_a_number(tmp_path):
    """With too few threads it closes connections that it keeps alive, and wrk counts thousands of read errors."""
    made = launched(tmp_path / "s", server={"apache": {}}, load={"connections": 64})
    assert made.row["errors_read"] == 0 < made.row["requests"]
