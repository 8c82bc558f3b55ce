"""What is printed where a tool did not run: a failed run of a generator, a named error of another tool."""

import pytest

from loadcurve.errors import ParseError
from loadcurve.ingest.sniff import parse, sniff

# Tool → texts.  The reason is the last entry of a pair, else the text itself.
FAILED = {
    "wrk": [
        ("unable to connect to h:9999 Connection refused", "unable to connect to h:9999 Connection refused"),
        "unable to connect to h:http Operation timed out",
        "unable to create thread 419: Too many open files",
        ("invalid URL: foo\nUsage: wrk <options> <url>   \n  Options: ", "invalid URL: foo"),
        ("Usage: wrk <options> <url>  \n  Options:  \ninvalid URL: foo", "invalid URL: foo"),
        "number of connections must be >= threads",
        "Usage: wrk <options> <url>                            ",
        "bash: wrk: command not found",
        "sh: 1: wrk: not found",
        "zsh: command not found: wrk",
        "Killed by signal 2.",
        (
            "wrk 4.0.2-2-g91655b5 [epoll] Copyright (C) 2012 Will Glozer\nUsage: wrk <options> <url>",
            "Usage: wrk <options> <url>",
        ),
    ],
    "ab": [
        "apr_poll: The timeout specified has expired (70007)",
        "apr_socket_recv: Connection reset by peer (54)",
        "apr_socket_connect(): 由于目标计算机积极拒绝，无法连接。   (730061)",
        "apr_sockaddr_info_get() for nosuchhost.invalid: Temporary failure in name resolution (670003)",
        "socket: Too many open files (24)",
        "apr_pollset_create failed: Invalid argument (22)",
        "ab: invalid URL",
        "ab: Cannot use concurrency level greater than total number of requests",
        "/usr/bin/ab: Invalid number of requests",
        "ab: could not open POST data file (post.txt): No such file or directory",
        "ab.exe: wrong number of arguments",
        "-bash: ab: command not found",
        "zsh: command not found: ab",
        "'ab' is not recognized as an internal or external command,",
        "Usage: ab [options] [http[s]://]hostname[:port]/path",
    ],
    "weighttp": [
        "error: concur_count > req_count",
        "error: insane arguments",
        "error: could not resolve hostname: nosuchhost",
        "error: connect() failed: Connection refused (111)",
        "error: socket() failed: (24) Too many open files",
        "error: no ssl support yet",
        "weighttp <options> <url>",
    ],
    **{tool: [f"bash: {tool}: command not found"] for tool in ("hey", "h2load", "vegeta", "k6", "siege", "httperf")},
}


@pytest.mark.parametrize("tool", FAILED)
def test_a_run_that_never_began_is_a_failed_run(tool):
    for case in FAILED[tool]:
        text, reason = (case, " ".join(case.split())) if isinstance(case, str) else case
        assert sniff(f"{text}\n").tool == tool
        runs = parse(f"{text}\n").tables["runs"]
        assert runs[["tool", "status", "reason"]].to_numpy().tolist() == [[tool, "failed", reason]]


def test_a_last_line_of_wrk_without_a_newline_is_read():
    """Of all reasons that may be cut, this one is whole."""
    said = "unable to connect to h:9999 Connection refused"
    assert parse(said).tables["runs"]["reason"].tolist() == [said]


@pytest.mark.parametrize("error", [e for e in FAILED["ab"] if e.startswith(("apr", "socket"))])
def test_a_run_of_ab_that_ends_in_an_error_keeps_its_count(error):
    begun = "Benchmarking 10.0.0.1 (be patient)\nCompleted 300 requests\n"
    runs = parse(f"{begun}{error}\nTotal of 371 requests completed\n").tables["runs"]
    assert runs[["status", "requests"]].to_numpy().tolist() == [["failed", 371]]


IPVSADM = (
    "IP Virtual Server version 1.2.1 (size=4096)\nProt LocalAddress:Port Scheduler Flags\n"
    "  -> RemoteAddress:Port           Forward Weight ActiveConn InActConn\n"
)


@pytest.mark.parametrize(
    ("before", "error", "after"),
    [
        (
            "",
            "iptables v1.8.7 (nf_tables): Could not fetch rule set generation id: Permission denied (you must be root)",
            "",
        ),
        ("", "bash: conntrack: command not found", ""),
        ("", "conntrack v1.4.6 (conntrack-tools): Operation failed: such file", ""),
        ("", "Can't initialize ipvs: Permission denied (you must be root)", "Are you sure?\n"),
        ("", "Can't initialize ipvs: Protocol not available", ""),
        ("", "-bash: ipvsadm: command not found", ""),
        (IPVSADM, "Invalid operation.  Possibly wrong module version, address not unicast, ...", ""),
        ("", "cat: /proc/net/ip_vs: No such file or directory", ""),
        ("", "bash: ss: command not found", ""),
        ("", "sh: 1: ss: not found", ""),
        ("", "zsh: command not found: ss", ""),
        ("", "ss: invalid option -- 'y'", "Usage: ss [ OPTIONS ]\n       ss [ OPTIONS ] [ FILTER ]\n"),
        ("", "Cannot open netlink socket: Operation not permitted", ""),
    ],
)
def test_an_error_of_another_tool_is_named(before, error, after):
    with pytest.raises(ParseError) as raised:
        parse(f"{before}{error}\n{after}")
    assert raised.value.got == error
