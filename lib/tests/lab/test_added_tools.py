"""The examples of the guides, added to a copy of the package: schema, reference pages, doctor and plans know them.

A generator, a server, a balancer, a monitor or a fault needs one module, its constant in the list of its kind, and its
tool in the list of tools.  The modules are the code blocks of the guides.
"""

import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import loadcurve

# Module, constant and tool of each example, by the folder of its kind.
ADDED = {
    "generators": ("tiny", "TINY", ""),
    "servers": ("tinyd", "TINYD", "TOOL"),
    "balancers": ("tinylb", "TINYLB", "TOOL"),
    "monitors": ("memory", "FREE", "TOOL"),
    "faults": ("resets", "DROP_RST", ""),
}
# Runs in a process of its own, because sections are derived when the laboratory is imported.
CHILD = """
import json, sys

from loadcurve.lab import describe
from loadcurve.lab.tools.generators.generator import Load
from loadcurve.lab.tools.generators import command_of
from loadcurve.lab.known_tools import TOOLS
from loadcurve.lab.study_file import schema
from loadcurve.site.laboratory import OFFERS, recipes_markdown
from loadcurve.site.laboratory import keys_markdown
from loadcurve.study import Study

study = Study(
    "added", "Does it know the tools of the guides?", repeats=1,
    topology={"recipe": "client_proxy_servers", "servers": 2},
    server={"tinyd": {"workers": 4}}, balancer={"tinylb": {}}, monitors={"free": 2}, fault={"drop_rst": True},
    load={"tool": "tiny", "connections": 2, "requests": 20},
)
json.dump({
    "schema": schema(),
    "doctor": [str(tool) for tool in TOOLS.values()],
    "page": {kind: recipes_markdown(kind) for kind in OFFERS},
    "keys": keys_markdown("server"),
    "plan": list(describe(study)),
    "argv": command_of(Load("tiny", sys.argv[1], 2, requests=20)).argv,
}, sys.stdout)
"""

TINY = """#!{python}
import argparse, urllib.request
parser = argparse.ArgumentParser()
parser.add_argument("-n", type=int)
parser.add_argument("-c", type=int)
parser.add_argument("url")
args = parser.parse_args()
for _ in range(args.n):
    urllib.request.build_opener(urllib.request.ProxyHandler({{}})).open(args.url, timeout=10).read()
print(args.n, "requests")
"""


class Counting(http.server.BaseHTTPRequestHandler):
    """Counts requests."""

    count = 0

    def do_GET(self):
        type(self).count += 1
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        """Print nothing."""


@pytest.fixture(scope="module")
def folder(root, tmp_path_factory):
    """Modules of the guides, by kind."""
    folder = tmp_path_factory.mktemp("added")
    for guide in ("add_a_generator", "add_a_server"):
        text = (root / "handbook" / "guides" / f"{guide}.md").read_text("utf-8")
        for path, code in re.findall(r"```python\n# (\w+/\w+\.py)\n(.*?)```", text, re.DOTALL):
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(code, "utf-8")
    assert {path.name for path in folder.iterdir()} == set(ADDED)
    return folder


@pytest.fixture(scope="module")
def package(folder, tmp_path_factory):
    """Folder of a copy of the package, to which the modules were added as the guides say."""
    copy = tmp_path_factory.mktemp("lib")
    shutil.copytree(Path(loadcurve.__file__).parent, copy / "loadcurve", ignore=shutil.ignore_patterns("__pycache__"))
    lab = copy / "loadcurve" / "lab"
    shutil.copytree(folder, lab / "tools", dirs_exist_ok=True)
    for kind, (module, constant, tool) in ADDED.items():
        line = f"from loadcurve.lab.tools.{kind} import {module}"
        _replace(lab / "tools" / kind / "__init__.py", "_LIST = (", f"{line}\n\n_LIST = ({module}.{constant}, ")
        if tool:
            _replace(lab / "known_tools.py", "_USED = (", f"{line}\n\n_USED = ({module}.{tool}, ")
    return copy


def _replace(path, old, new):
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), "utf-8")


@pytest.fixture(scope="module")
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Counting) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def known(package, server, tmp_path_factory):
    argv = [sys.executable, "-c", CHILD, server]
    empty, environment = tmp_path_factory.mktemp("empty"), os.environ | {"PYTHONPATH": str(package)}
    done = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=empty, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_schema_has_their_keys(known):
    parts = known["schema"]["definitions"]
    assert "tiny" in parts["LoadSection"]["properties"]["tool"]["enum"]
    for section, key in (("ServerSection", "tinyd"), ("BalancerSection", "tinylb"), ("FaultSection", "drop_rst")):
        assert parts[section]["properties"][key]["description"]
        assert {"required": [key]} in parts[section]["oneOf"]
    interval, *_ = parts["MonitorsSection"]["properties"]["free"]["anyOf"]
    assert (interval["minimum"], interval["maximum"]) == (0.1, 3600)
    workers = parts["TinydSection"]["properties"]["workers"]
    assert (workers["minimum"], workers["maximum"], workers["description"]) == (1, 64, "Worker processes.")


def test_the_reference_pages_describe_them(known):
    for kind, name, words in (
        ("generators", "tiny", "Sends a fixed number of GET requests from one thread.<br>Closed loop"),
        ("servers", "tinyd", "A tinyd, which sends files."),
        ("balancers", "tinylb", "A tinylb, which passes on connections."),
        ("monitors", "free", "Memory of the machine."),
        ("faults", "drop_rst", "The client keeps the connection open and waits."),
    ):
        assert re.search(rf"^\| `{name}` \| .*{re.escape(words)}", known["page"][kind], re.MULTILINE)
    assert "| `tinyd` | A tinyd, which sends files." in known["keys"]


def test_doctor_lists_their_tools_and_packages(known, folder, root):
    doctor = {line.split()[0]: line for line in known["doctor"]}
    assert {"tiny", "tinyd", "tinylb", "free"} <= set(doctor)
    assert "apt-get install --no-install-recommends tiny-tools" in doctor["tiny"]
    argv = [sys.executable, root / "lib/loadcurve/lab/packages.py", "lab-test", folder]
    said = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == ["procps free", "tiny-tools tiny", "tinyd tinyd", "tinyd tinylb"]


def test_a_study_that_uses_them_can_be_planned(known):
    plan = "\n".join(known["plan"])
    assert "tinyd -f S1.conf" in plan and "tinyd -f S2.conf" in plan
    listen = re.search(r"tinylb (\S+) \S+:8080 \S+:8080$", plan, re.MULTILINE)[1]
    assert re.search(rf"tiny -n 20 -c 2 http://{listen}/$", plan, re.MULTILINE)
    assert re.search(r"S1 +fault +drop_rst$", plan, re.MULTILINE)
    assert re.search(r"shares +\S+ 50.0%, \S+ 50.0%$", plan, re.MULTILINE)
    assert plan.count("sampler.py") == 4, "free is sampled on each host"


def test_the_generator_of_the_guide_really_sends_its_requests(known, tmp_path):
    program = tmp_path / "tiny"
    program.write_text(TINY.format(python=sys.executable), "utf-8")
    program.chmod(0o755)
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    done = subprocess.run(known["argv"], capture_output=True, text=True, check=True, env={**os.environ, "PATH": path})
    assert (done.stdout, Counting.count) == ("20 requests\n", 20)
