"""What read_checked says of a wrong study: all faults at once, in the order of the file, each in its own line."""

import re
from pathlib import Path

import numpy as np
import pytest
from one_test import in_one_test
from study_texts import read, said

from loadcurve.errors import LoadcurveError
from loadcurve.lab.study_file import check_study, settings_of
from loadcurve.study import Study

PROXY = "topology: {recipe: client_proxy_servers}\n"
KERNEL = "topology: {recipe: client_l4_servers}\n"
CAPACITY = "{capacity: {lowest: 4, highest: 64, final_s: 2}}"

RIGHT = [
    "factors: {keep_alive: [on, off]}",
    "load: {keep_alive: off}",
    "topology: {recipe: client_server}\nlinks: {S1: {offloads: {tso: off}}}\nfault: {drop_fin: on}",
    "topology: {recipe: loopback}",
    "topology: {recipe: client_server, addresses: 254}",
    "topology: {recipe: several_clients, clients: 62}\nload: {connections: 62}",
    "topology: {recipe: several_clients, clients: 3, servers: 2}\nload: {processes: 2, connections: 6}",
    "topology: {recipe: client_proxy_servers, servers: 4}\nbalancer: {haproxy: {mode: tcp}}",
    KERNEL + "balancer: {nft: {services: 10000, lookup: rules}}\nmonitors: {counters: 1}",
    KERNEL + "balancer: {ipvs: {scheduler: wrr, weights: [1, 0], forward: dr}}",
    "topology: {machines: {C1: {ssh: 'ssh://a@b:22', address: 10.0.0.1}, S1: {ssh: '', address: 10.0.0.2}}}",
    "hosts: {local: {cpus: [0], open_files: 1024}}",
    "topology: {recipe: client_server}\nhosts: {S: {sysctls: {net.core.somaxconn: 128}}, C1: {cpus: [0, 1]}}",
    "topology: {recipe: client_server}\nhosts: {S1: {congestion_control: bbr}}",
    "topology: {recipe: client_server}\nhosts: {S1: {sysctls: {net.ipv4.ip_local_port_range: 1024 65000}}}",
    "topology: {recipe: client_server}\nlinks: {S1: {rate_bps: 1e8, delay_s: 0.01, loss_ratio: 0.001}}",
    "topology: {recipe: client_server}\nlinks: {lan: {mtu: 9000}}",
    "topology: {recipe: client_server}\nlinks: {lan: {offloads: {tso: false, gro: true}}}",
    KERNEL + "balancer: {nft: {}}\nlinks: {LB.back: {delay_s: 0.001}}",
    "server: {nginx: {response: {delay: {delay_ms: 10}}, serving: {access_log: off, gzip: true}}}",
    "server: {nginx: {layout: reuseport, process: {workers: 2, cpus: [0, 1], program: /opt/nginx/sbin/nginx}}}",
    "topology: {recipe: client_server, addresses: 2}\n"
    "server: {nginx: {layout: D, process: {workers: 2}}}\nload: {processes: 2, connections: 2}",
    "server: {apache: {files: {sizes_bytes: [0, 616]}, workers: 4, gzip: true}}",
    "server: {lighttpd: {program: /usr/sbin/lighttpd}}",
    "server: {caddy: {}, port: 8080}",
    "server: {haproxy: {response: {body_bytes: 3000}, process: {threads: 2}}}",
    "server: {php: {children: 16, page: {steps: 0, queries: 10, wait_ms: 5}, rows: 10}}",
    "server: {wordpress: {children: 2}}",
    "server: {url: 'http://[::1]:8080/a?b=c'}",
    PROXY + "balancer: {nginx_l7: {scheduler: lc, domains: {count: 100, pools: 3}, lookup: map}}",
    PROXY + "balancer: {nginx_stream: {access_log: buffered}}",
    "load: {tool: wrk2, rate_rps: 1000, connections: 8, threads: 2}",
    "load: {tool: ab, requests: 100, method: POST, body_bytes: 10, headers: {Accept-Encoding: gzip}}",
    "load: {tool: h2load, duration_s: 0.5, each_request: true}",
    "load: {tool: hey, keep_alive: false, path: '/616.bin?x=(1)'}",
    "load: {tool: weighttp, requests: 1000000000000}",
    "monitors: {}",
    "monitors: {sar: 1, mpstat: 2.0, proc: 0.1, nstat: 1, stub_status: 0.5}",
    "topology: {recipe: client_server}\nfault: {kill_worker: true, after_s: 0.5}",
    "topology: {recipe: client_server}\nfault: {lose_packets: 0.01, host: C1}",
    "topology: {recipe: client_server}\nfault: {fill_accept_queue: 4, lasts_s: 1}",
    "objective: {latency_s: 0.01, quantile: 0.5, failed_ratio: 0.01}",
    f"search: {CAPACITY}\nobjective: {{latency_s: 0.1}}",
    "search: {factor: server.nginx.response.text.body_bytes, "
    "saturating_size: {lowest: 100, highest: 3000, final_s: 2, resolution: 100}}",
    "stop: {half_width_ratio: 0.05, quantity: latency_mean_s, most_repeats: 10}",
    "design: one_at_a_time\nfactors: {connections: [2, 4], threads: [1, 2]}",
    "points: [{connections: 2, threads: 2}, {connections: 3}]",
    "repeats: 10000\nseed: -1\nwarm_up_s: 3\nrest_s: 0.5\nlimit_s: 30\nallow_targets: [example.org, 10.1.0.0/16]",
    # What every point says differently need not be right in the study by itself.
    "load: {tool: wrk2}\nfactors: {rate_rps: [100, 200]}",
    "variants: {a: {server: {apache: {}}}}\nfactors: {server.apache.workers: [1, 2]}",
    # Merged keys are keys.
    "server: {nginx: {process: &one {workers: 2}}}\n" + PROXY + "balancer: {nginx_l7: {process: {<<: *one}}}",
]


@in_one_test("text", RIGHT)
def test_right_studies_are_taken(tmp_path, text):
    study = read(tmp_path, text)
    check_study(study)  # the same one, made instead of read
    assert settings_of(study).study == "s"


# Text from line 3 on; lines and words that the message must have, one for each fault and no more.
WRONG = [
    ("topology: {recipe: star}", [(3, "topology.recipe to be 'loopback', .*got 'star'")]),
    ("topology: {clients: 2}", [(3, "topology.clients to be left out: loopback takes no number, got '2'")]),
    (
        "topology:\n  recipe: several_clients\n  clients: 0\n  servers: 63\n  addresses: 255",
        [(5, "clients to be a whole number of 1 to 62"), (6, "servers to be"), (7, "addresses to be .* 254, got ")],
    ),
    ("topology: {recipe: several_clients, clients: 40, servers: 40}", [(3, "servers to be such that the number")]),
    ("topology: {machines: {C1: {ssh: '', address: 127.0.0.1}}}", [(3, "machines to be with S1 among them")]),
    (
        "topology:\n  machines:\n    C1: {ssh: http://a@b, address: localhost}\n    S1: {address: 10.0.0.1}\n    X: {}",
        [(5, "C1.address to be an IPv4"), (5, "C1.ssh to be ssh://"), (6, "key topology.machines.S1.ssh"),
         (7, "key topology.machines.X.ssh"), (7, "key topology.machines.X.address")],
    ),
    ("hosts:\n  S1: {}", [(4, "hosts.S1 to be one of local, got 'S1'")]),
    (
        "topology: {recipe: client_server}\nhosts:\n  S: {congestion_control: bbr}\n  S1: {cpus: [0]}",
        [(6, "hosts.S1 to be the only settings of this host: those of its role, S, would not count, got 'S1 and S'")],
    ),
    ("hosts: {local: {congestion_control: bbr}}", [(3, "hosts.local to be without settings of the kernel")]),
    (
        "hosts:\n  local:\n    cpus: [0, -1]\n    open_files: 15\n    cpu_quota: 1e9",
        [(5, "hosts.local.cpus to be"), (6, "open_files to be a whole number of 16"), (7, "cpu_quota to be 0.01 to ")],
    ),
    (
        "topology: {recipe: client_server}\nhosts:\n  S1:\n    sysctls:\n      net.core.somaxconn: many\n"
        "      kernel.panic: 1\n      net.ipv4.tcp_sack: 1.5\n      net.ipv4.tcp_ecn: true\n",
        [(9, "sysctls.net.ipv4.tcp_sack to be string, got '1.5'"), (10, "tcp_ecn to be string, got 'true'")],
    ),
    (
        "topology: {recipe: client_server}\nhosts:\n  S1:\n    sysctls:\n      net.core.somaxconn: many\n"
        "      kernel.panic: 1",
        [(6, "hosts.S1.sysctls to be settings of a network namespace .*got 'kernel.panic'"),
         (7, "hosts.S1.sysctls.net.core.somaxconn to be one or more numbers, got 'many'")],
    ),
    ("links: {S1: {}}", [(3, r"links.S1 to be a link of the topology \(topology loopback has no host 'S1'")]),
    (
        "topology: {recipe: client_server}\nlinks:\n  S1: {mtu: 67, delay_s: 11, loss_ratio: -0.1, rate_bps: 1}\n"
        "  S2: {}",
        [(5, "S1.mtu"), (5, "S1.rate_bps"), (5, "S1.delay_s"), (5, "S1.loss_ratio")],
    ),
    ("topology: {recipe: client_server}\nlinks: {S1: {offloads: {tso: 0}}}", [(4, "offloads.tso to be on or off")]),
    ("server: {nginx: {}, apache: {}}", [(3, "server to be one of apache, .*got 'apache, nginx'")]),
    ("server: {}", [(3, "server to be one of apache, .*got 'none'")]),
    ("server: {ngix: {}}", [(3, "one of the keys apache, .*nginx, .*url, status, port, got 'ngix'")]),
    (
        "server:\n  nginx:\n    response: {delay: {delay_ms: -1, body_bytes: 100001}}\n    process:\n"
        "      workers: 257\n      cpus: [1024]\n    serving: {access_log: never}\n    layout: F",
        [(5, "delay.delay_ms"), (5, "delay.body_bytes"), (7, "process.workers to be a whole number of 1 to 256"),
         (8, "process.cpus to be a whole number of 0 to 1023"),
         (8, "process.cpus to be one for each of 257"),
         (9, "access_log to be 'off', 'on' or 'buffered'"), (10, "layout to be ''")],
    ),
    ("server: {nginx: {response: {text: {}, delay: {delay_ms: 1}}}}", [(3, "response to be one of text, files")]),
    ("server: {nginx: {response: {delay: {}}}}", [(3, "the key server.nginx.response.delay.delay_ms, got 'none'")]),
    ("server: {nginx: {response: {files: {sizes_bytes: [5, 5]}}}}", [(3, "sizes_bytes to be sizes, each once")]),
    ("server: {nginx: {layout: B}}", [(3, "layout to be one that listens on one address")]),
    (
        "topology: {recipe: client_server, addresses: 2}\nload: {processes: 3, connections: 3}\n"
        "server: {nginx: {layout: D, process: {workers: 3}}}",
        [(5, "layout to be one without an address for each of 3 workers: there are 2")],
    ),
    (
        "topology: {recipe: client_server}\nserver:\n  nginx: {layout: E, process: {workers: 4}}\n  port: 65533\n"
        "load: {processes: 4, connections: 4}",
        [(6, "server.port to be at most 65532")],
    ),
    ("server: {apache: {workers: -1, program: bin/httpd}}", [(3, "apache.workers"), (3, "apache.program")]),
    ("server: {php: {children: 0, rows: 0, page: {queries: 0}}}", [(3, "page.queries")]),
    ("server: {php: {children: 0, rows: 0}}", [(3, "php.children"), (3, "php.rows")]),
    ("server:\n  php:\n    rows: 4\n    page: {queries: 5, wait_ms: 40}", [(6, "page.queries to be at most 4")]),
    ("server: {url: 'ftp://a/', port: 70000}", [(3, "server.url"), (3, "server.port")]),
    ("balancer: {nft: {}}", [(3, "balancer to be a program: nft needs the topology client_l4_servers")]),
    (
        "topology: {recipe: client_server}\nbalancer: {haproxy: {}}",
        [(4, "balancer to be left out: this topology has no LB, got 'haproxy'")],
    ),
    ("server: {url: 'http://127.0.0.1/'}\nbalancer: {nginx_l7: {}}", [(4, "left out before a server that runs")]),
    (KERNEL + "balancer: {ipvs: {weights: [1, 2, 3]}}", [(4, "weights to be one for each of 2 servers, or none")]),
    (KERNEL + "balancer: {ipvs: {forward: dr, services: 2}}", [(4, "services to be 1: direct routing")]),
    (KERNEL + "balancer: {ipvs: {weights: [65536]}}", [(4, "ipvs.weights to be a whole number of 0 to 65535")]),
    (PROXY + "balancer: {nginx_l7: {domains: {count: 2, pools: 3}}}", [(4, "pools to be a whole number of 1 to 2")]),
    (
        "load:\n  tool: wrkk\n  connections: 0\n  path: x\n  timeout_s: 0.5\n  headers: {Connection: close}",
        [(4, "tool to be one of ab, h2load"), (5, "connections"), (6, "path to be beginning with /"), (7, "timeout_s"),
         (8, "headers to be named by")],
    ),
    (
        "load:\n  tool: wrk\n  duration_s: 0.5\n  rate_rps: 5\n  method: HEAD\n  connections: 3\n  threads: 2",
        [(5, "duration_s to be a multiple of 1 s"), (6, "rate_rps to be 0: the loop is closed"), (7, "method to be"),
         (8, "connections to be a multiple of 2 threads")],
    ),
    ("load: {duration_s: 5, requests: 10, tool: ab}", [(3, "load: duration_s, requests to be one of them over 0")]),
    ("load: {tool: h2load, keep_alive: false}", [(3, "keep_alive to be true: h2load keeps")]),
    ("load: {connections: '8'}", [(3, "load.connections to be integer, got '8'")]),
    ("load: {conections: 8}", [(3, "one of the keys tool, connections, .* path, got 'conections'")]),
    ("load: {processes: 3, connections: 2}", [(3, r"load.connections to be >= processes \(3\), got '2'")]),
    (
        "topology: {recipe: several_clients, clients: 1, servers: 2}\nload: {processes: 3, connections: 9}",
        [(4, r"load.processes to be such that 2 servers are loaded alike \(on 1 clients\), got '3'")],
    ),
    ("warm_up_s: 1\nload: {tool: weighttp, requests: 5}", [(3, "warm_up_s to be 0 for this load: .* duration_s must")]),
    (
        "monitors:\n  sar: 0.5\n  proc: 0.01\n  nstat: .nan",
        [(4, "sar to be a multiple of 1 s, 1 to 3600 s"), (5, "proc to be 0.1 to 3600 s"), (6, "nstat to be 0.1")],
    ),
    ("monitors: {stub_status: 1}\nserver: {haproxy: {}}", [(3, "stub_status to be left out: the server is no nginx")]),
    ("monitors: {counters: 1}", [(3, "counters to be left out: only haproxy, ipvs and nft")]),
    (
        "monitors: {stub_status: 1}\nserver: {nginx: {layout: A}}",
        [(3, "stub_status to be left out: a server with a layout has no page of its own")],
    ),
    (PROXY + "balancer: {haproxy: {mode: tcp, domains: {count: 2}}}", [(4, "haproxy.domains to be left out for tcp")]),
    (
        KERNEL + "balancer: {ipvs: {forward: dr}}\nserver: {nginx: {layout: E}}",
        [(4, "ipvs.forward to be nat: direct routing cannot change the port")],
    ),
    (
        "topology: {recipe: client_server}\nfault: {stop_server: true}\nserver: {url: 'http://10.99.2.1/'}",
        [(4, "fault to be left out for a server that runs already")],
    ),
    ("topology: {recipe: client_server}\nfault: {kill_worker: true, host: C1}", [(4, "fault.host to be a server's")]),
    ("fault: {drop_syn: true}", [(3, "fault to be made in namespaces")]),
    ("fault: {drop_syn: true, drop_fin: true}", [(3, "fault to be one of narrow_ports, .*got 'drop_syn, drop_fin'")]),
    ("fault: {drop_syn: false}", [(3, "fault.drop_syn to be true, got 'false'")]),
    (
        "topology: {recipe: client_server}\nfault:\n  lose_packets: 2\n  after_s: -1\n  lasts_s: 4000",
        [(5, "lose_packets to be 0 < lose_packets <= 1"), (6, "after_s"), (7, "lasts_s to be 0 to 3600 s")],
    ),
    *(
        (f"topology: {{recipe: client_server}}\nfault: {{{name}: {value}}}", [(4, f"fault.{name} to be ")])
        for name, value in {
            "narrow_ports": 0, "few_descriptors": 15, "delay_packets": 11, "fill_accept_queue": 0,
            "fill_conntrack": 0, "cap_connections": 1_000_001,
        }.items()
    ),
    ("topology: {recipe: client_server}\nfault: {drop_syn: true, host: S2}", [(4, "fault.host to be one of C1, S1")]),
    (
        "objective:\n  latency_s: 0\n  quantile: 1\n  failed_ratio: 1",
        [(4, "latency_s to be 0 < "), (5, "quantile to be 0 < quantile < 1"), (6, "failed_ratio to be 0 <=")],
    ),
    (
        "search:\n  factor: ../x\n  capacity:\n    lowest: 0\n    highest: 0\n    final_s: 1.5\n    level: 2",
        [(6, "lowest to be > 0"), (7, "highest to be above"), (8, "final_s to be a multiple of 1 s"),
         (9, "level to be 0")],
    ),
    ("search: {factor: ../x}", [(3, "search to be one of capacity, "), (3, "search.factor to be a place such as")]),
    (f"search: {CAPACITY}", [(0, "objective to be given, with latency_s or failed_ratio")]),
    (
        f"factors: {{connections: [4, 8]}}\nobjective: {{latency_s: 1}}\nsearch: {CAPACITY}",
        [(5, "search to be for a place that is no factor of the study, got 'connections'")],
    ),
    (
        f"objective: {{latency_s: 1}}\nload: {{threads: 3, connections: 3}}\nsearch: {CAPACITY}",
        [(5, "search to be with a lowest load and a resolution that are multiples of 3 threads")],
    ),
    (
        "topology: {recipe: client_server}\nload: {threads: 2, processes: 2, connections: 4}\n"
        "objective: {latency_s: 1}\nsearch: {capacity: {lowest: 4, highest: 64, resolution: 2, final_s: 2}}",
        [(6, "search to be with a lowest load and a resolution that are multiples of 2 threads of 2 processes")],
    ),
    (
        "load: {threads: 2, connections: 4}\nobjective: {latency_s: 1}\n"
        "search: {capacity: {lowest: 4, highest: 63, resolution: 2, final_s: 2}}",
        [(5, "multiples of 2 threads, and a highest too, got '4, 2, 63'")],
    ),
    (
        "load: {processes: 8, connections: 8}\nobjective: {latency_s: 1}\nsearch: " + CAPACITY,
        [(5, "search to be with a lowest load of a connection for each of 8 processes, got '4'")],
    ),
    (
        "objective: {latency_s: 1}\nsearch: {capacity: {lowest: 4, highest: 64, resolution: 0.5, final_s: 2}}",
        [(4, "a resolution that are whole numbers")],
    ),
    (f"objective: {{latency_s: 1}}\nstop: {{}}\nsearch: {CAPACITY}", [(4, "stop to be left out beside a search")]),
    (
        "load: {duration_s: 2}\ntopology: {recipe: client_server}\nfault: {stop_server: true, after_s: 2}",
        [(5, "fault.after_s to be less than the 2 s of load, or the fault comes when the load is over, got '2.0'")],
    ),
    ("stop: {half_width_ratio: 0, most_repeats: 1}", [(3, "half_width_ratio"), (3, "most_repeats")]),
    ("stop: {most_repeats: 9}", [(3, "stop.most_repeats to be a whole number of 10 to 10000, got '9'")]),
    ("stop: {quantity: speed}", [(3, "stop.quantity to be 'throughput_rps' or 'latency_mean_s'")]),
    ("variants: {}", [(3, "variants to be at least one name")]),
    ("variants: {'-a': {}}", [(3, "variants to be named with letters.* not beginning with -, got '-a'")]),
    ("variants: {a: {serve.nginx: {}}}", [(3, "variants to be places such as load.connections")]),
    ("points: [{connections: 1}, {connections: 1}]", [(3, "points to be without repetition")]),
    ("factors: {connections: [1, 1.0]}", [(3, "factors to be levels of connections without repetition")]),
    ("repeats: 10001", [(3, "repeats to be a whole number of 1 to 10000")]),
    ("allow_targets: staging", [(3, "allow_targets to be array, got 'staging'")]),
]  # fmt: skip


@in_one_test(("text", "wanted"), WRONG)
def test_wrong_studies_are_refused_with_every_fault_in_its_line(tmp_path, text, wanted):
    found = said(tmp_path, text)
    assert [line for line, _ in found] == [line for line, _ in wanted], found
    for (_, words), (_, pattern) in zip(found, wanted, strict=True):
        assert re.search(pattern, words), words
        assert words.startswith("expected ") and ", got " in words


def test_faults_of_all_sections_are_told_at_once(tmp_path):
    text = (
        "topology: {recipe: client_serve}\nserver:\n  nginx:\n    process: {workers: 0}\n    respnse: {}\n"
        "load:\n  tool: wrkk\n  path: x\nrepeats: 0\nobjective: {quantile: 2}\nvariants:\n  a: {load.tool: abc}\n"
    )
    found = said(tmp_path, text)
    assert [line for line, _ in found] == [3, 6, 7, 9, 10, 11, 12]
    assert "one of the keys response, process, serving, layout, got 'respnse'" in found[2][1]


def test_a_key_that_nobody_knows_hides_no_rule(tmp_path):
    """Not those of its own section, nor those of the study, nor those of its points."""
    text = "load: {conections: 8, threads: 0}\nrepeat: 3\nrepeats: 0\n"
    assert [line for line, _ in said(tmp_path, text)] == [3, 3, 4, 5]
    text = "factors:\n  connections: [1, 0]\n  thread: [1]\n"
    assert [line for line, _ in said(tmp_path, text)] == [4, 5]


def test_rules_of_the_study_are_told_beside_faults_of_points(tmp_path):
    found = said(tmp_path, "factors:\n  connections:\n  - 1\n  - 0\nload:\n  timeout_s: 0.5\n")
    assert [line for line, _ in found] == [6, 8]


POINTS = [
    # A level by itself, at its own line.
    (
        "factors:\n  connections:\n  - 1\n  - 0\n  - x\n",
        [(6, r"in factors.connections.1: load.connections to be a whole"), (7, r"connections.2: .*integer, got 'x'")],
    ),
    ("factors:\n  connectons: [1]\n", [(4, r"in factors.connectons.0: one of the keys tool, .* got 'connectons'")]),
    (
        "factors:\n  server.nginx.process.workers: [1, 0]\n  connections: [1]\n",
        [(4, r"in factors.server.nginx.process.workers.1: server.nginx.process.workers to be")],
    ),
    # A variant's setting.
    (
        "variants:\n  a: {}\n  b:\n    load.threads: 2\n    load.tool: curl\n",
        [(7, r"in variants.b.load.tool: load.tool to be one of ab, h2load")],
    ),
    ("variants:\n  a: {}\n  b:\n    server: {apach: {}}\n", [(6, r"in variants.b.server: one of the keys .*'apach'")]),
    (
        "variants:\n  a: {}\n  b:\n    topology: {recipe: client_server}\nhosts: {local: {}}\n",
        [(6, r"in variants.b.topology: hosts.local to be one of C, C1, S, S1")],
    ),
    # A listed point's.
    (
        "points:\n- connections: 1\n- connections: 2\n  method: PUSH\n",
        [(6, r"in points.1.method: load.method to be one of GET")],
    ),
    # What only a combination has: the first one is named, and the level that its fault names.
    (
        "factors:\n  threads: [1, 2]\n  connections:\n  - 4\n  - 3\n",
        [(7, r"in the point with threads 2, connections 3: load.connections to be a multiple of 2 threads")],
    ),
    (
        "variants:\n  a: {}\n  b: {load.threads: 2}\npoints:\n- {connections: 4}\n- {connections: 3}\n",
        [(8, r"in variants.b with connections 3: load.connections to be a multiple")],
    ),
    (
        "design: one_at_a_time\nvariants:\n  a: {}\n  b: {load.threads: 2}\nfactors:\n  connections: [2, 3]\n",
        [(8, r"in variants.b with connections 3")],
    ),
    # One level each of two factors, one at a time: that combination is never run.
    ("design: one_at_a_time\nfactors: {threads: [1, 2], connections: [4, 3]}\n", []),
    # What the study says by itself is told once, and not again for each point.
    ("load:\n  threads: 0\nfactors:\n  connections: [1, 2, 3]\n", [(4, r"^expected load.threads to be")]),
    # A search tries what no level says: its ends are points too.
    (
        "objective: {latency_s: 1}\nload: {tool: ab, requests: 100}\n"
        "search:\n  capacity: {lowest: 1, highest: 64, final_s: 2}\n",
        [(5, r"in search.factor: load: duration_s, requests to be one of them over 0")],
    ),
    (
        "search:\n  factor: server.nginx.response.text.body_bytes\n  saturating_size: "
        "{lowest: 1000, highest: 200000, resolution: 1000, final_s: 2}\n",
        [(4, r"body_bytes to be a whole number of 0 to 100000, got '200000'")],
    ),
]


@pytest.mark.parametrize(("text", "wanted"), POINTS)
def test_faults_of_points_are_told_where_the_change_stands(tmp_path, text, wanted):
    found = said(tmp_path, text)
    assert [line for line, _ in found] == [line for line, _ in wanted], found
    for (_, words), (_, pattern) in zip(found, wanted, strict=True):
        assert re.search(pattern, words), words


def test_a_study_that_was_made_says_the_same_without_lines():
    study = Study("s", "?", load={"threads": 0}, factors={"connections": (1, 0)}, monitors={"sarr": 1})
    with pytest.raises(LoadcurveError) as caught:
        check_study(study)
    said = str(caught.value).splitlines()
    assert len(said) == 3 and all(line.startswith("s/study.yml: expected ") for line in said)


def test_what_is_written_empty_is_there(tmp_path):
    """``stop: {}`` is a stop by its own numbers, not none."""
    assert settings_of(read(tmp_path, "stop: {}")).stop.most_repeats == 50
    assert settings_of(read(tmp_path, "seed: 1")).stop is None


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"factors": {"connections": 8}}, "factors must be lists of levels, also of connections, got 8"),
        ({"factors": {"connections": (np.int64(8),)}}, "expected texts, numbers, .* int64 is not JSON serializable"),
        ({"load": {"headers": {"A": {1, 2}}}}, "expected texts, numbers, lists and mappings, got .* set is not"),
        ({"load": {"path": Path("/a")}}, "expected texts, numbers"),
        ({"load": {"duration_s": float("nan")}}, "load: duration_s, requests to be one of them over 0"),
    ],
)
def test_what_no_file_could_hold_is_told(changes, says):
    with pytest.raises(LoadcurveError, match=says):
        check_study(Study("s", "?", **changes))
