"""A server that sends no proper response, or one that never ends, is one line in time, wherever a response is read."""

import contextlib
import http.client
import json
import socket
import subprocess
import sys
import threading

import pytest

from loadcurve.errors import LabError
from loadcurve.lab.hosts import one_request
from loadcurve.lab.run.allowed_targets import check_response, check_target

OK = b"HTTP/1.1 200 OK\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
BROKEN = {
    "no number": (OK + b"Content-Length: abc\r\n\r\n", "Content-Length must be one number of bytes, got 'abc'"),
    "two": (OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", "Content-Length must be one .* got '5, 6'"),
    "digits": (
        OK + b"Content-Length: " + b"9" * 6000 + b"\r\n\r\n",
        "Content-Length must be one number .* got '9{60}'",
    ),
    "negative": (OK + b"Content-Length: -1\r\n\r\n", "must be one number of bytes, got '-1'"),
    "redirect": (b"HTTP/1.1 302 Found\r\nLocation: http://[\r\nContent-Length: 0\r\n\r\n", "redirects to"),
    "control": (b"HTTP/1.1 302 F\r\nLocation: http://\x1b]0;x\x07/\r\nContent-Length: 0\r\n\r\n", "redirects to"),
    "no HTTP": (b"SSH-2.0-OpenSSH_9.2\r\n", "target must answer, got no valid HTTP"),
    "words": (b"\x1b]0;x\x07" + b"x" * 9000 + b"\r\n\r\n", r"no valid HTTP: \\x1b\]0;x\\x07xx"),
    "chunk": (OK + b"Transfer-Encoding: chunked\r\n\r\n-5\r\na", "no valid HTTP"),
}
ENDLESS = {
    "headers": (OK, b"a"),
    "body": (OK + b"\r\n", b"a"),
    "chunks": (OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n"),
    "continue": (CONTINUE, CONTINUE),
    "many": (CONTINUE, CONTINUE * 10_000),
    "header lines": (OK, b"a: b\r\n"),
}


@contextlib.contextmanager
def serving(first, then=b"", pause_s=0.2):
    """A server on loopback that sends each client some bytes, and then others again and again."""
    ended = threading.Event()

    def serve(client):
        with client, contextlib.suppress(OSError):
            client.recv(65536)
            client.sendall(first)
            while then and not ended.wait(pause_s):
                client.sendall(then)

    def accept():
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        finally:
            ended.set()
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


@pytest.mark.parametrize("name", BROKEN)
def test_a_response_that_is_none_is_one_printable_line(name):
    sent, message = BROKEN[name]
    with serving(sent) as url, pytest.raises(LabError, match=message) as raised:
        assert one_request.probe(url, "", 60.0)[1].isprintable()
        check_response(url, ("127.0.0.1",))
    assert str(raised.value).isprintable() and len(str(raised.value)) < 500


@pytest.mark.parametrize("name", ENDLESS)
@pytest.mark.parametrize("remote", [False, True])
def test_a_response_that_does_not_end_ends_with_the_time_limit(name, remote):
    """Each byte arrives well within the limit; no number of them may extend it."""
    with serving(*ENDLESS[name]) as url:
        ended = []

        def ask():
            if remote:  # as on a host that is reached by ssh
                argv = [sys.executable, "-I", "-S", one_request.__file__, url, "", "1"]
                ended.append(json.loads(subprocess.run(argv, capture_output=True, check=True, timeout=60).stdout))
            else:
                ended.append(one_request.probe(url, "", 1.0))

        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        thread.join(60)  # for the start of Python on a busy machine; the server goes on until it is told to end
        assert ended and ended[0][0] == 0, "still waiting, or took it for a response"
        assert "no whole response in time" in ended[0][1] or "timed out" in ended[0][1] or "more than" in ended[0][1]


def test_all_addresses_of_a_name_and_its_look_up_share_one_deadline(monkeypatch):
    over, shares = threading.Event(), []

    def send(url, address, share_s, *_):
        shares.append(share_s)
        raise OSError("refused")

    monkeypatch.setattr(one_request, "send", send)
    with pytest.raises(LabError, match="target must answer, got refused"):
        check_response("http://127.0.0.1/", ("127.0.0.1", "127.0.0.2"), patience_s=60.0)
    assert shares[0] <= 30.0 and shares[1] <= 60.0
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: over.wait())
    with pytest.raises(LabError, match=r"a host that resolves, got 'slow.example' \(no response of a name server"):
        check_target("http://slow.example/", patience_s=0.1)
    over.set()


def test_a_deadline_holds_for_the_whole_exchange(monkeypatch):
    """On a clock that each look moves by a second, a limit of 30 s ends after some thirty looks."""
    looks = iter(range(1000))
    monkeypatch.setattr(one_request, "time", type("Clock", (), {"monotonic": staticmethod(lambda: float(next(looks)))}))
    with serving(OK, b"a: b\r\n", pause_s=0.001) as url, pytest.raises((OSError, http.client.HTTPException)):
        one_request.send(url, "", 30.0)
    assert next(looks) < 40
