"""The examples of the guides, added to the packages of the laboratory from a folder: every list knows them.

One module is all that a generator, a server, a balancer, a monitor or a fault needs.  The modules are the code blocks
of the guides, put into a temporary folder that extends each package's ``__path__``; no other file is touched.
"""

import http.server
import json
import os
import re
import subprocess
import sys
import threading

import pytest

# Runs in a process of its own, because sections are derived when the laboratory is imported.
CHILD = """
import importlib.machinery, json, sys
from pathlib import Path

added = Path(sys.argv[1])


class Extend(importlib.machinery.PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        spec = super().find_spec(name, path, target)
        package, _, kind = name.rpartition(".")
        if spec is not None and package == "loadcurve.lab" and (added / kind).is_dir():
            spec.submodule_search_locations.append(str(added / kind))
        return spec


sys.meta_path.insert(0, Extend)

from loadcurve.lab import describe
from loadcurve.lab.generators import Load, command_of
from loadcurve.lab.known_tools import TOOLS
from loadcurve.lab.study_file import schema
from loadcurve.site.laboratory import OFFERS, recipes_markdown
from loadcurve.site.study_file import keys_markdown
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
    "argv": command_of(Load("tiny", sys.argv[2], 2, requests=20)).argv,
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
    assert {path.name for path in folder.iterdir()} == {"generators", "servers", "balancers", "monitors", "faults"}
    return folder


@pytest.fixture(scope="module")
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Counting) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def known(folder, server, tmp_path_factory):
    argv = [sys.executable, "-c", CHILD, str(folder), server]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=tmp_path_factory.mktemp("empty"))
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
    argv = [sys.executable, root / "lib" / "packages.py", "lab-test", folder]
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
