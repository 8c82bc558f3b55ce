"""What goes wrong by itself, by real launches: the run says why, and nothing is left."""

import contextlib
import socket
import threading
from pathlib import Path

import psutil
import pytest
from events import HANG_S, wait_until
from launched_runs import DELAYS, SITE, check_whole, failed, left_behind, read_folder, short_study

from loadcurve.errors import LabError
from loadcurve.lab import launch, list_obstacles
from loadcurve.lab.hosts import capabilities
from loadcurve.lab.run import obstacles
from loadcurve.lab.tools.monitors import sampler
from loadcurve.study.records import read_run, run_folders

pytestmark = pytest.mark.lab


@contextlib.contextmanager
def killing(folder, name, *words):
    """Kill a process of a run, the first of this name and these words, once its load and its monitors are at work."""

    def works(name, *words):
        for process in psutil.process_iter(["name", "cwd", "cmdline"]):
            facts = process.info
            here = (facts["cwd"] or "").startswith(f"{folder}/")
            if here and facts["name"] == name and set(words) <= set(facts["cmdline"] or ()):
                return process
        return None

    def sampled():
        plans, texts = folder.glob("*/S1.sampler.py"), folder.glob("*/S1.ss.summary.txt")
        return not any(plans) or any(text.stat().st_size for text in texts)

    def hunt():
        wait_until(lambda: works("wrk") and works(name, *words) and sampled())
        with contextlib.suppress(psutil.NoSuchProcess):
            works(name, *words).kill()

    thread = threading.Thread(target=hunt, daemon=True)
    thread.start()
    yield
    thread.join(HANG_S)


def test_a_port_that_is_taken(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        made = failed(tmp_path / "s", server={"nginx": {}, "port": port})
    assert made.run.reason == f"127.0.0.1:{port} is taken: another program listens there already"
    assert not made.run.commands, "it would have been loaded itself"


def test_a_server_without_files_enough(tmp_path):
    made = failed(
        tmp_path / "s", server={"haproxy": {"process": {"connections": 3000}}}, hosts={"local": {"open_files": 100}}
    )
    assert made.run.reason.startswith("the private haproxy did not respond") and "100" in made.run.reason
    assert not made.commands("generator")


def test_a_server_that_cannot_read_its_configuration(tmp_path):
    """A module that is no module: the last words of nginx are the reason."""
    made = failed(tmp_path / "s", **SITE, server={"nginx": {"process": {"modules": ["/etc/hostname"]}}})
    assert made.run.reason.startswith("the private nginx did not respond (") and "/etc/hostname" in made.run.reason
    (server,) = made.commands("server")
    assert server.exit_code == 1 and server.stderr in made.run.files


def test_a_run_past_its_limit(tmp_path):
    made = failed(tmp_path / "s", **SITE, load={"duration_s": 4.0}, limit_s=1.0)
    assert made.run.reason == "wrk on C1 was ended at its limit of 1 s"
    assert [c.exit_code for c in made.commands("generator")] == [124]


PROXY = {"topology": {"recipe": "client_proxy_servers"}, "balancer": {"nginx_l7": {}}}


@pytest.mark.parametrize(
    ("sections", "words", "reason"),
    [
        ({**SITE, "load": {"processes": 2}}, ("wrk",), "wrk on C1 ended with exit code"),
        (PROXY, ("nginx", "S1.conf"), "nginx on S1 ended during the run with exit code"),
        (PROXY, ("nginx", "LB.conf"), "nginx on LB ended during the run with exit code"),
    ],
)
def test_what_is_killed_fails_the_run(tmp_path, sections, words, reason):
    """Also one of two generators, though the other one ended well; what the monitors saw is kept, as it is."""
    folder = tmp_path / "s"
    with killing(folder, *words):
        made = failed(folder, **sections, monitors={"ss_summary": 0.2})
    assert made.run.reason.startswith(reason)
    if words == ("wrk",):
        assert sorted(c.exit_code == 0 for c in made.commands("generator")) == [False, True]
    assert (folder / "r1" / "S1.ss.summary.txt").stat().st_size > 0


def test_a_monitor_that_dies_leaves_a_warning(tmp_path):
    folder = tmp_path / "s"
    with killing(folder, "python3", "S1.sampler.py"):
        launch(short_study("s", **SITE, server=DELAYS, load={"duration_s": 2.0}, monitors={"ss_summary": 0.2}), folder)
    made = read_folder(folder)
    assert made.run.warnings == ("ss on S1 ended before the load did",)
    assert any("ss on S1 ended before the load did" in warning for warning in made.warnings)
    check_whole(made)
    assert len(made.of("sockets", "C1")) > len(made.of("sockets", "S1")) > 0
    assert Path(sampler.__file__).read_text() == (folder / "r1" / "S1.sampler.py").read_text()


def test_only_the_failed_run_is_made_again(tmp_path):
    folder = tmp_path / "s"
    study = short_study("s", **SITE, factors={"connections": (2, 4)})
    with killing(folder, "wrk"), pytest.raises(LabError, match="1 of 2 runs failed: .* launch again to repeat them"):
        launch(study, folder)
    kept = {p: (p / "run.json").read_bytes() for p in run_folders(folder) if read_run(p).status == "finished"}
    assert len(kept) == 1
    launch(study, folder)
    assert all((path / "run.json").read_bytes() == was for path, was in kept.items())
    check_whole(read_folder(folder))


def test_what_nobody_foresaw_is_written_down_and_told(tmp_path):
    """A folder where the generator's output is to go: no error of the laboratory's, and nobody interrupted anything."""
    folder = tmp_path / "s"

    def obstruct():
        wait_until((folder / "r1" / "local-warm-up.wrk.txt").exists)
        (folder / "r1" / "local.wrk.txt").mkdir()

    thread = threading.Thread(target=obstruct, daemon=True)
    thread.start()
    with pytest.raises(IsADirectoryError):
        launch(short_study("s", warm_up_s=1), folder)
    thread.join()
    assert left_behind(folder) == []
    run = read_run(folder / "r1")
    assert run.status == "failed" and run.reason.startswith("IsADirectoryError: [Errno 21]")
    launch(short_study("s", warm_up_s=1), folder)
    check_whole(read_folder(folder))


NEEDS = {
    "h2load": ({"load": {"tool": "h2load"}}, "apt-get install nghttp2-client"),
    "ab": ({"load": {"tool": "ab"}}, "apt-get install apache2-utils"),
    "hey": ({"load": {"tool": "hey"}}, "apt-get install hey"),
    "lighttpd": ({"server": {"lighttpd": {}}}, "apt-get install lighttpd"),
    "caddy": ({"server": {"caddy": {}}}, "apt-get install caddy"),
    "apache2": ({"server": {"apache": {}}}, "apt-get install apache2-bin"),
    "mariadbd": ({"server": {"php": {}}}, "apt-get install mariadb-server-core"),
    "haproxy": ({**PROXY, "balancer": {"haproxy": {}}}, "apt-get install haproxy"),
    "nft": ({"topology": {"recipe": "client_l4_servers"}, "balancer": {"nft": {}}}, "apt-get install nftables"),
    "ipvsadm": ({"topology": {"recipe": "client_l4_servers"}, "balancer": {"ipvs": {}}}, "apt-get install ipvsadm"),
    "mpstat": ({"monitors": {"mpstat": 1.0}}, "apt-get install sysstat"),
    "nstat": ({"monitors": {"nstat": 1.0}}, "apt-get install iproute2"),
    "prlimit": ({**SITE, "fault": {"few_descriptors": 64}}, "apt-get install util-linux"),
    "tc": (SITE, "apt-get install iproute2"),
    "ethtool": (SITE, "apt-get install ethtool"),
}


@pytest.mark.parametrize("tool", NEEDS)
def test_a_tool_that_is_missing_is_named_with_its_package(tmp_path, monkeypatch, tool):
    sections, remedy = NEEDS[tool]
    which = obstacles.which
    monkeypatch.setattr(obstacles, "which", lambda name: None if name == tool else which(name))
    study = short_study("s", **sections)
    lacks = list_obstacles(study)
    assert [f"{tool} is not installed", remedy] in lacks.values.tolist()
    with pytest.raises(LabError, match=f"{tool} is not installed: {remedy}"):
        launch(study, tmp_path / "s")
    assert not (tmp_path / "s").exists(), "nothing was begun"


@pytest.mark.parametrize(
    ("sections", "package"),
    [
        ({"server": DELAYS}, "libnginx-mod-http-echo"),
        ({"topology": {"recipe": "client_proxy_servers"}, "balancer": {"nginx_stream": {}}}, "libnginx-mod-stream"),
        ({"server": {"wordpress": {}}}, "php-fpm php-mysql"),
    ],
)
def test_a_module_that_is_missing_is_named_with_its_package(monkeypatch, sections, package):
    def lacking(*words):
        raise LabError(f"it is not here: apt-get install {package}")

    known = capabilities.here()
    bare = capabilities.Programs(lacking, lacking, lacking, known.nginx_takes_early_errors, known.is_root)
    monkeypatch.setattr(capabilities, "here", lambda: bare)
    lacks = list_obstacles(short_study("s", **sections))
    assert f"apt-get install {package}" in lacks["remedy"].tolist()


def test_the_pages_of_wordpress_are_looked_for_before_a_launch(monkeypatch):
    monkeypatch.setattr(capabilities, "PAGES", capabilities.PackageFile("wordpress", "/no/such/page", "has the pages"))
    lacks = list_obstacles(short_study("s", server={"wordpress": {}}))
    assert lacks["remedy"].str.contains("apt-get install php-fpm php-mysql wordpress wordpress-theme").any()


def test_networks_need_root(tmp_path, monkeypatch):
    monkeypatch.setattr(obstacles.os, "geteuid", lambda: 1000)
    with pytest.raises(LabError, match="network namespaces need root: launch as root, or choose the topology loopback"):
        launch(short_study("s", **SITE), tmp_path / "s")
    assert not (tmp_path / "s").exists()
    assert list_obstacles(short_study("s")).empty, "loopback does not"


def test_links_that_do_not_fit_each_other_are_refused_before_anything_is_made(tmp_path):
    with pytest.raises(Exception, match="links of network lan must have one MTU, got 900, 1500"):
        launch(short_study("s", **SITE, links={"S1": {"mtu": 900}}), tmp_path / "s")
    assert not (tmp_path / "s").exists()
