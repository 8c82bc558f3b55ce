"""What IPVS does with the rules of `loadcurve.lab.balancers.ipvs`, told as JSON: here, or in a kernel that has it.

As a program it is the first process of a user-mode-linux whose root is this machine's, and it ends with that kernel.
It covers what others would see of it (/run, /tmp) by empty folders of its own.
"""

import contextlib
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path

SERVERS = 3
MODULES = ("veth", "bridge", "ip_vs", "ip_vs_rr", "ip_vs_wrr", "ip_vs_wlc", "ip_vs_sh", "ip_vs_mh")
_CLIENT = """
import sys, urllib.request
ask = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
print(*(len(ask(sys.argv[1], timeout=5).read()) for _ in range(int(sys.argv[2]))))
"""


def exercise(folder):
    """Counts of requests by server for each scheduler, counters, export and import, ten thousand services."""
    from loadcurve.lab.network import Ledger
    from loadcurve.lab.network.topology import client_l4_servers, client_proxy_servers

    (folder / "nat").mkdir()
    (folder / "dr").mkdir()
    with Ledger(folder / "ledgers") as ledger:
        told = _nat(client_l4_servers(servers=SERVERS), ledger, folder / "nat")
        told["dr"] = _direct_routing(client_proxy_servers(servers=SERVERS), ledger, folder / "dr")
    return told


def _nat(topology, ledger, folder):
    from loadcurve.lab.balancers import IpvsBalancer, ipvs_rules
    from loadcurve.lab.servers import Endpoint

    with _site(topology, ledger, folder, 8080) as (hosts, ends):
        front, told = Endpoint(hosts["LB"].address, 80), {}
        for scheduler, weights in (("rr", ()), ("wrr", (1, 2, 3)), ("wlc", ()), ("sh", ()), ("mh", ())):
            rules = ipvs_rules(IpvsBalancer("LB", (front,), ends, scheduler, weights=weights))
            _load(hosts["LB"], rules, folder)
            told[scheduler] = _asked(hosts["C1"], front, 12)
            if scheduler == "rr":
                told["counters"] = _do(hosts["LB"], rules.counters, folder)
        exported = _do(hosts["LB"], rules.export, folder)
        _do(hosts["LB"], rules.remove, folder)
        told["left"] = _do(hosts["LB"], rules.export, folder)
        _do(hosts["LB"], rules.load, folder, exported)
        told["imported"] = _do(hosts["LB"], rules.export, folder) == exported != ""
        many = tuple(Endpoint(front.address, 10_000 + i) for i in range(10_000))
        rules = ipvs_rules(IpvsBalancer("LB", many, ends[:1]))
        _load(hosts["LB"], rules, folder)
        told["services"] = _do(hosts["LB"], rules.export, folder).count("-A -t ")
        told["last"] = _asked(hosts["C1"], many[-1], 2)
        _do(hosts["LB"], rules.remove, folder)
    return told


def _direct_routing(topology, ledger, folder):
    from loadcurve.lab.balancers import IpvsBalancer, direct_routing_argvs, ipvs_rules
    from loadcurve.lab.servers import Endpoint

    front = topology.node("LB").addresses[0]
    with _site(topology, ledger, folder, 80, also=front) as (hosts, ends):
        for name in (f"S{i + 1}" for i in range(SERVERS)):
            for argv in direct_routing_argvs(front):
                _do(hosts[name], argv, folder)
        rules = ipvs_rules(IpvsBalancer("LB", (Endpoint(front, 80),), ends, forward="dr"))
        _load(hosts["LB"], rules, folder)
        return _asked(hosts["C1"], Endpoint(front, 80), 12)


@contextlib.contextmanager
def _site(topology, ledger, folder, port, also=""):
    """Hosts and three servers, told apart by the length of what they answer."""
    from loadcurve.lab.network import build
    from loadcurve.lab.servers import Endpoint, Nginx, Text, nginx_service

    ends = tuple(Endpoint(topology.node(f"S{i + 1}").addresses[0], port) for i in range(SERVERS))
    with build(topology, ledger) as hosts, contextlib.ExitStack() as stack:
        for i, end in enumerate(ends):
            # A server of direct routing answers from the balancer's address too: it listens on all of them.
            service = nginx_service(Nginx(f"S{i + 1}", (end,), Text(101 + i), wildcard=bool(also)))
            for name in service.folders:
                (folder / name).mkdir()
            for name, text in service.files.items():
                (folder / name).write_text(text)
            argv = hosts[service.name].argv(("timeout", "60", *service.argv))
            process = stack.enter_context(subprocess.Popen(argv, cwd=folder, stdin=subprocess.DEVNULL))
            stack.callback(process.terminate)
        for end in ends:
            _asked(hosts["LB"], end, 1, patience=50)
        yield hosts, ends


def _load(host, rules, folder):
    for name, text in rules.files.items():
        (folder / name).write_text(text)
    _do(host, rules.load, folder, (folder / rules.stdin).read_text())


def _asked(host, end, times, patience=1):
    for _ in range(patience):
        argv = host.argv((sys.executable, "-I", "-S", "-c", _CLIENT, end.url, str(times)))
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=30)
        if done.returncode == 0:
            found = Counter(done.stdout.split())
            return [found[str(101 + i)] for i in range(SERVERS)]
    raise AssertionError(done.stderr.splitlines()[-1])


def _do(host, argv, folder, text=""):
    done = subprocess.run(host.argv(argv), cwd=folder, input=text, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, f"{argv}: {done.stderr}"
    return done.stdout


def _load_modules():
    """Modules of this kernel with what they need, as modules.dep has it; Debian's minimal system has no modprobe."""
    folder = Path("/usr/lib/uml/modules") / os.uname().release
    needs = dict(line.split(":") for line in (folder / "modules.dep").read_text().splitlines())
    paths = {Path(path).stem.replace("-", "_"): path for path in needs}
    done = set()
    for name in MODULES:
        for path in [*reversed(needs[paths[name]].split()), paths[name]] if name in paths else ():
            if path not in done:
                done.add(path)
                data = (folder / path).read_bytes()
                ctypes.CDLL(None, use_errno=True).syscall(175, data, len(data), b"")  # init_module(2) of x86-64


def main():
    os.environ["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    try:
        for kind, place in (("proc", "/proc"), ("sysfs", "/sys"), ("tmpfs", "/run"), ("tmpfs", "/tmp")):
            subprocess.run(("mount", "-t", kind, kind, place), check=True)
        subprocess.run(("ip", "link", "set", "lo", "up"), check=True)
        _load_modules()
        told = exercise(Path(tempfile.mkdtemp()))
    except BaseException:
        told = {"error": traceback.format_exc()}
    print(f"\nTOLD {json.dumps(told)}", flush=True)
    ctypes.CDLL(None).reboot(0x4321FEDC)  # RB_POWER_OFF of reboot(2)


if __name__ == "__main__":
    main()
