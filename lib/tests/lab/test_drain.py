"""Nothing of a warm-up, or of the run before, is in flight or queued when the measured load begins."""

import contextlib
import http.server
import time
from types import SimpleNamespace

import pytest
from launched_runs import launched
from private_services import answering

from loadcurve.lab.hosts.executor import LocalExecutor
from loadcurve.lab.hosts.host import LOCAL
from loadcurve.lab.run import readiness as drain
from loadcurve.lab.run.in_flight import count_tcp, count_unix

# Each request takes the only worker of a server so long, whatever the machine; what a warm-up leaves, or another run,
# is one request on each connection.  In a load of a second that would leave room for a fifth of them.
WORK_S, CONNECTIONS, LOAD_S = 0.05, 16, 1
MOST = round(LOAD_S / WORK_S) + 1
# A worker is late after each request by what a busy machine takes to wake it; a leak costs 80 % of the load's time.
LEAST_RATIO = 0.6

TCP = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000003 00:00000000 00000000     0        0 623 1 00000000a79c3961 100 0
   1: 0100007F:1F90 0100007F:ABA6 06 00000000:00000000 03:000000E5 00000000     0        0 0 3 00000000d8668981
   2: 0100007F:1F90 0100007F:D395 08 00000026:00000000 00:00000000 00000000     0        0 700 1 00000000808647c9
   3: 0100007F:1F90 0100007F:D396 01 00000026:00000000 00:00000000 00000000     0        0 701 1 00000000808647c9
   4: 0100007F:D396 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 702 1 00000000808647c9
   5: 0100007F:1F91 0100007F:D397 08 00000000:00000000 00:00000000 00000000     0        0 703 1 00000000808647c9
"""
UNIX = """\
Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 902943 ././S1-php.work/php.sock
0000000000000000: 00000003 00000000 00000000 0001 03 902966 ././S1-php.work/php.sock
0000000000000000: 00000003 00000000 00000000 0001 02 0 ././S1-php.work/php.sock
0000000000000000: 00000003 00000000 00000000 0001 03 902983 /run/other.sock
0000000000000000: 00000003 00000000 00000000 0001 03 902984
"""


def test_what_the_kernel_shows_of_requests():
    """Port 8080 listens with 3 to accept; 1 connection is closed by its client alone, 1 open, 1 in TIME-WAIT."""
    assert count_tcp(TCP, [8080], open_too=True) == 3
    assert count_tcp(TCP.replace(":00000003 00", ":00000000 00"), [8080], open_too=True) == 2
    assert count_tcp(TCP.replace(":00000003 00", ":00000000 00"), [8080], open_too=False) == 1
    assert count_tcp(TCP, [8081], open_too=True) is None, "nobody listens there"
    # One that php-fpm works on, one that it has not accepted.
    assert count_unix(UNIX, ["S1-php.work"]) == 2
    assert count_unix(UNIX, []) == 0


@contextlib.contextmanager
def slow_server():
    """A server with one worker: it takes connections in turn, each for `WORK_S`."""

    def answer(request):
        time.sleep(WORK_S)
        with contextlib.suppress(OSError):  # nobody waits any more
            request.send_response(200)
            request.send_header("Content-Length", "0")
            request.end_headers()

    class Server(http.server.HTTPServer):
        request_queue_size = 128

    with answering(answer, Server) as server:
        yield {"url": f"http://127.0.0.1:{server.server_port}/"}


def rates(folder, server, **sections):
    """Requests of a run without a warm-up, of one with it, and of one right behind."""
    found = []
    for name, warm_up_s in {"first": 0.0, "warmed": 1.0, "last": 0.0}.items():
        load = {"connections": CONNECTIONS, "duration_s": LOAD_S}
        made = launched(folder / name, server=server, load=load, warm_up_s=warm_up_s, **sections)
        assert made.run.warnings == ()
        whats = [event["what"] for event in made.run.events]
        told = [what.rpartition(" ")[2] for what in whats if not what.startswith("one request to ")]
        assert told == ["warm-up"] * bool(warm_up_s)
        found.append(made.row["requests"] * LOAD_S / made.row["duration_s"])  # a busy machine ends it late
    return found


def check_rates(found):
    assert max(found) <= MOST
    assert min(found) >= LEAST_RATIO * max(found)


@pytest.mark.slow
@pytest.mark.real
def test_a_server_that_runs_already_is_idle_before_each_load(tmp_path):
    with slow_server() as own:
        check_rates(rates(tmp_path, own))


@pytest.mark.lab
def test_requests_that_php_has_queued_are_worked_off(tmp_path):
    """They wait on a UNIX socket behind nginx, whose own connections are gone."""
    page = {"steps": 0, "queries": 1, "wait_ms": round(1000 * WORK_S)}
    check_rates(rates(tmp_path, {"php": {"children": 1, "page": page}}))


def test_a_server_that_is_never_idle_is_not_waited_for_without_end(tmp_path, monkeypatch):
    # Deployment and environment of a server that others use too.
    never = SimpleNamespace(watch={"local": LocalExecutor(LOCAL, tmp_path)})
    monkeypatch.setattr(drain, "idle_limit_s", lambda settings: 0.1)
    monkeypatch.setattr(drain, "_watched", lambda *_: [drain._Watched("local", (80,), True)])
    monkeypatch.setattr(drain, "_count", lambda *_: 7)
    assert list(drain.wait_until_idle(never, never, never)) == [
        "7 requests were still in flight or queued on local after 0.1 s"
    ]
