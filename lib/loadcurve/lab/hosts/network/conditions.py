"""Conditions of links and kernel settings of hosts, and the tools that set them, several at the same time.

Delay and loss hold for each direction, so a link's delay adds twice to a round trip.  Rate limits each direction at
the sending end (token bucket, tc-tbf(8)).

Packets are dropped at the receiving end, not by netem: a sender's queue holds up to 64 KiB as one packet (segmentation
offload), so a drop there would lose a whole burst.  A link with loss also has segmentation offload turned off.
"""

import contextlib
import math
import re
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated

from pydantic import Field

from loadcurve.errors import LabError, ValueRuleError
from loadcurve.lab.hosts.process import guarded
from loadcurve.lab.hosts.tools import environment
from loadcurve.study.section import Range, Section

# Each of these tools needs a few ms; 10 s leave room for a machine under load.
_LIMIT_S = 10.0
_FAILED_LINE = re.compile(r"^Command failed -:([0-9]+)", re.MULTILINE)


@dataclass(frozen=True)
class Invocation:
    """A tool with its argv and its standard input."""

    argv: tuple[str, ...]
    stdin: str = ""  # Standard input: the lines of a batch
    # Whether it keeps running as long as the resource that it creates; `run_together` runs only tools that end.
    stays: bool = False


def run_together(invocations: Iterable[Invocation], holding: int | None = None) -> list[str]:
    """Run several tools at the same time and return what each printed; their order does not matter.

    They keep the file descriptor `holding` open: the lock of the ledger, so that `clean` waits for the tools of a
    killed launcher.  Raises LabError when one of them fails, after the others have ended.
    """
    started: list[tuple[Invocation, subprocess.Popen[str]]] = []
    failed, printed = [], []
    deadline = time.monotonic() + _LIMIT_S + 3  # `timeout` kills 2 s after its first signal
    try:
        # One by one, so that the `finally` ends those that run when a later one cannot be started.
        started.extend((invocation, _start(invocation, holding)) for invocation in invocations)
        for invocation, process in started:
            out, err = process.communicate(invocation.stdin, timeout=max(0.1, deadline - time.monotonic()))
            printed.append(out)
            if process.returncode:
                failed.append(f"{' '.join(invocation.argv)}: {_reason(err, process.returncode, invocation.stdin)}")
    except subprocess.TimeoutExpired as error:
        raise LabError(f"{' '.join(error.cmd)} did not end within {_LIMIT_S:g} s") from None
    finally:
        for _, process in started:
            _end(process)
    if failed:
        raise LabError(failed[0])
    return printed


def run(argv: tuple[str, ...], text: str = "", holding: int | None = None) -> str:
    """Run one tool and return what it printed; see `run_together`."""
    return run_together([Invocation(argv, text)], holding)[0]


def _start(invocation: Invocation, holding: int | None) -> subprocess.Popen[str]:
    try:
        return subprocess.Popen(
            guarded(invocation.argv, _LIMIT_S),
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # so that Ctrl-C reaches only the launcher, which ends the tools
            pass_fds=() if holding is None else (holding,),
        )
    except FileNotFoundError as error:
        raise LabError(f"{error.filename} is not installed (apt-get install util-linux coreutils)") from None


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.terminate()  # `timeout` forwards the signal
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(3)
    for stream in filter(None, (process.stdin, process.stdout, process.stderr)):
        with contextlib.suppress(OSError):
            stream.close()


def _reason(stderr: str, code: int, text: str) -> str:
    """Return the first line of a tool's error output, and the line of the batch that it refers to."""
    lines = [line for line in stderr.strip().splitlines() if not _FAILED_LINE.match(line)]
    number = _FAILED_LINE.search(stderr)  # `ip` and `tc` print the line number after the reason
    about = f" ({text.splitlines()[int(number[1]) - 1]})" if number else ""
    return (lines[0] if lines else f"exit code {code}") + about


OFFLOADS = frozenset({"tso", "gso", "gro", "lro", "sg", "rx", "tx"})
# tc-tbf(8), PARAMETERS, latency: how long a packet may wait for its tokens.
_TBF_LATENCY_MS = 50
# netem drops what is above its limit (tc-netem(8): 1000 packets); this holds 10 Gbit/s for 100 ms in full frames.
_NETEM_LIMIT_PACKETS = 100_000
_ETHERNET_HEADER_BYTES = 14

# Settings of a network namespace in Linux 6.x that matter in a load test.  Settings of the whole machine are left out.
SYSCTLS = frozenset(
    {
        "net.core.somaxconn",
        "net.ipv4.ip_forward",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.tcp_abort_on_overflow",
        "net.ipv4.tcp_adv_win_scale",
        "net.ipv4.tcp_autocorking",
        "net.ipv4.tcp_ecn",
        "net.ipv4.tcp_fastopen",
        "net.ipv4.tcp_fin_timeout",
        "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_limit_output_bytes",
        "net.ipv4.tcp_max_syn_backlog",
        "net.ipv4.tcp_max_tw_buckets",
        "net.ipv4.tcp_moderate_rcvbuf",
        "net.ipv4.tcp_no_metrics_save",
        "net.ipv4.tcp_notsent_lowat",
        "net.ipv4.tcp_orphan_retries",
        "net.ipv4.tcp_retries1",
        "net.ipv4.tcp_retries2",
        "net.ipv4.tcp_rfc1337",
        "net.ipv4.tcp_rmem",
        "net.ipv4.tcp_sack",
        "net.ipv4.tcp_slow_start_after_idle",
        "net.ipv4.tcp_syn_retries",
        "net.ipv4.tcp_synack_retries",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.tcp_timestamps",
        "net.ipv4.tcp_tw_reuse",
        "net.ipv4.tcp_window_scaling",
        "net.ipv4.tcp_wmem",
        "net.netfilter.nf_conntrack_tcp_timeout_established",
        "net.netfilter.nf_conntrack_tcp_timeout_fin_wait",
        "net.netfilter.nf_conntrack_tcp_timeout_time_wait",
    }
)
_NUMBERS = re.compile(r"[0-9]{1,10}(?:[ ,-][0-9]{1,10}){0,7}")
_WORD = re.compile(r"[a-z][a-z0-9_]{0,14}")  # TCP_CA_NAME_MAX of linux/tcp.h is 16


DELAY_S = Range(0, 10, unit="s")
"""Range of a delay in each direction."""


@dataclass(frozen=True)
class LinkConditions(Section):
    """Conditions of a link."""

    # The smallest datagram that IPv4 must carry whole (RFC 791) … what a TAP device takes (drivers/net/tun.c, MAX_MTU).
    mtu: Annotated[int, Range(68, 65_521)] = 1500
    """Largest packet in bytes."""

    rate_bps: Annotated[float, Range(ge=8000, unit="bit/s", finite=False)] = math.inf
    """Bits per second in each direction, frames with their Ethernet header; no limit by default."""

    delay_s: Annotated[float, DELAY_S] = 0.0
    """Delay in each direction."""

    loss_ratio: Annotated[float, Range(0, 1)] = 0.0
    """Share of IPv4 packets lost at random in each direction; it has a resolution of a millionth."""

    offloads: Annotated[Mapping[str, bool], Field(json_schema_extra={"propertyNames": {"enum": sorted(OFFLOADS)}})] = (
        field(default_factory=dict)
    )
    """``tso``, ``gso``, ``gro`` and others of ethtool(8) ``-K``, true or false for both ends; the kernel's
    defaults otherwise."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        for name, on in self.offloads.items():
            if name not in OFFLOADS or not isinstance(on, bool):
                yield ValueRuleError("offloads", f"true or false for {' '.join(sorted(OFFLOADS))}", f"{name}: {on}")


@dataclass(frozen=True)
class HostSettings(Section):
    """Kernel settings of a host."""

    # `reno` unless a study sets another one: bbr, the default of some kernels, sends responses of more than one segment
    # four to nine times slower over veth.
    congestion_control: str = "reno"
    # Settings of this host alone, their names among `SYSCTLS`, their values numbers.
    sysctls: Mapping[str, str] = field(default_factory=dict)

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        if not (isinstance(self.congestion_control, str) and _WORD.fullmatch(self.congestion_control)):
            yield ValueRuleError("congestion_control", "a name such as reno", self.congestion_control)
        for name, value in self.sysctls.items():
            if name not in SYSCTLS:
                yield ValueRuleError("sysctls", "settings of a network namespace that the laboratory knows", name)
            elif isinstance(value, bool) or not _NUMBERS.fullmatch(str(value)):
                yield ValueRuleError(f"sysctls.{name}", "one or more numbers", value)


def tc_lines(device: str, link: LinkConditions, netem: bool) -> str:
    """Batch for tc(8): delay by netem where the kernel has it, below it the rate by tbf, as tc-netem(8) nests them.

    Examples
    --------
    >>> print(tc_lines("eth0", LinkConditions(rate_bps=1e8), netem=False), end="")
    qdisc add dev eth0 root tbf rate 100000000bit burst 15000b latency 50ms
    """
    lines, parent = "", "root"
    if link.delay_s and netem:
        lines += f"qdisc add dev {device} root handle 1: netem delay {link.delay_s * 1e6:.0f}us "
        lines += f"limit {_NETEM_LIMIT_PACKETS}\n"
        parent = "parent 1:1 handle 10:"
    if math.isfinite(link.rate_bps):
        # 1.2 ms of the rate: above what accrues between two ticks at HZ = 1000, far below a second's bytes.  A bucket
        # smaller than a frame would let nothing through.
        burst_bytes = max(round(link.rate_bps / 8 * 1.2e-3), 2 * (link.mtu + _ETHERNET_HEADER_BYTES))
        lines += f"qdisc add dev {device} {parent} tbf rate {link.rate_bps:.0f}bit burst {burst_bytes}b "
        lines += f"latency {_TBF_LATENCY_MS}ms\n"
    return lines


def loss_rules(losses: Mapping[str, float]) -> str:
    """Text for ``nft -f -``: packets lost at random on arrival, by name of the device → share.

    Examples
    --------
    >>> print(loss_rules({"eth0": 0.01}), end="")
    table netdev loss {
      chain eth0 {
        type filter hook ingress device "eth0" priority 0;
        meta protocol ip numgen random mod 1000000 < 10000 counter drop
      }
    }
    """
    chains = "".join(
        f'  chain {device} {{\n    type filter hook ingress device "{device}" priority 0;\n'
        f"    meta protocol ip numgen random mod 1000000 < {share * 1e6:.0f} counter drop\n  }}\n"
        for device, share in losses.items()
    )
    return f"table netdev loss {{\n{chains}}}\n"


def ethtool_argv(device: str, link: LinkConditions) -> tuple[str, ...]:
    """Return the command that sets offloads; empty where a link sets none.

    Examples
    --------
    >>> " ".join(ethtool_argv("eth0", LinkConditions(loss_ratio=0.01)))
    'ethtool -K eth0 tso off gso off'
    """
    offloads = {**({"tso": False, "gso": False} if link.loss_ratio else {}), **link.offloads}
    if not offloads:
        return ()
    return ("ethtool", "-K", device, *(word for name, on in offloads.items() for word in (name, "on" if on else "off")))


@cache
def has_netem() -> bool:
    """Whether this kernel has netem, tried in a temporary namespace."""
    try:
        run(("unshare", "--net", "tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms"))
    except LabError:
        return False
    return True
