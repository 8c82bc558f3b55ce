"""Large raw texts in the tools' own formats: as long as a bench needs, the same on every machine (seeded)."""

import subprocess
from functools import cache
from pathlib import Path

import numpy as np

_SEED = 20261120


def ss_list(path: Path, sockets: int, seed: int = _SEED) -> None:
    """What ``ss -tan`` prints on a busy server."""
    draw = np.random.default_rng(seed)
    states = draw.choice(["ESTAB", "TIME-WAIT", "FIN-WAIT-2", "CLOSE-WAIT"], sockets, p=[0.3, 0.65, 0.04, 0.01])
    queues, ports = draw.integers(0, 3, sockets) * 616, draw.integers(1024, 65536, sockets)
    hosts = draw.integers(1, 255, (sockets, 2))
    with path.open("w", encoding="ascii") as out:
        out.write("State      Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n")
        for state, queue, port, (a, b) in zip(states, queues, ports, hosts, strict=True):
            peer = f"198.18.{a}.{b}:{port}"
            out.write(f"{state:<10} 0      {queue:<6}     198.18.0.3:80 {peer:>21}      \n")


def ss_details(path: Path, sockets: int, seed: int = _SEED) -> None:
    """What ``ss -tin`` prints: two lines for each socket, with every token that iproute2 knows of a connection."""
    draw = np.random.default_rng(seed)
    with path.open("w", encoding="ascii") as out:
        out.write("State Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n")
        for start in range(0, sockets, 10_000):
            for i, (n, rtt) in enumerate(
                zip(draw.integers(1, 10**6, (10_000, 8)).tolist(), draw.uniform(0.1, 200, 10_000).tolist(), strict=True)
            ):
                if start + i >= sockets:
                    return
                out.write(_with_details(n, rtt))


def _with_details(n: list[int], rtt: float) -> str:
    """One socket of ``ss -tin``, from eight numbers and a round-trip time in ms."""
    limited = " app_limited" if n[0] % 2 else ""
    unacked = f" unacked:{n[1] % 90 + 1} retrans:{n[1] % 3}/{n[2]} lost:{n[3] % 9 + 1}" if n[4] % 5 == 0 else ""
    return (
        f"ESTAB 0      {n[0] % 2000:<6} 198.18.0.3:80 198.18.{n[5] % 255}.{n[6] % 255}:{n[7] % 64000 + 1024}\n"
        f"\t ts sack cubic wscale:7,10 rto:{200 + n[0] % 800} rtt:{rtt:.3f}/{rtt / 3:.3f} ato:40 mss:1448"
        f" pmtu:1500 rcvmss:536 advmss:1448 cwnd:{n[1] % 500 + 1} ssthresh:{n[2] % 500 + 2}"
        f" bytes_sent:{n[3] * 1448} bytes_retrans:{n[4]} bytes_acked:{n[3] * 1440}"
        f" bytes_received:{n[5] * 43} segs_out:{n[3]} segs_in:{n[5]} data_segs_out:{n[3]} data_segs_in:{n[5]}"
        f" send {n[6] * 997}bps lastsnd:{n[7]} lastrcv:{n[6]} lastack:{n[5]} pacing_rate {n[6] * 1994}bps"
        f" delivery_rate {n[2] * 1011}bps delivered:{n[3]}{limited} busy:{n[4]}ms"
        f" rwnd_limited:{n[4] // 10}ms(10.0%){unacked} dsack_dups:{n[1] % 7 + 1} reordering:{n[2] % 30 + 3}"
        f" reord_seen:{n[3] % 9 + 1} rcv_rtt:{rtt * 3:.3f} rcv_space:{n[0] + 14480} rcv_ssthresh:{n[1] + 64088}"
        f" notsent:{n[2] + 1} minrtt:{rtt / 2:.3f} snd_wnd:{n[3] + 65536}\n"
    )


def ab_requests(path: Path, requests: int, seed: int = _SEED) -> None:
    """What ``ab -g`` writes: a row for each request, sorted by total time."""
    draw = np.random.default_rng(seed)
    with path.open("w", encoding="ascii") as out:
        out.write("starttime\tseconds\tctime\tdtime\tttime\twait\n")
        for start in range(0, requests, 100_000):
            n = min(100_000, requests - start)
            second = (1795213596 + np.sort(draw.integers(0, 60, n))).tolist()
            ctime, dtime = draw.integers(0, 4, n).tolist(), draw.integers(0, 300, n).tolist()
            out.writelines(
                f"Fri Nov 20 22:26:{s % 60:02d} 2026\t{s}\t{c}\t{d}\t{c + d}\t{d}\n"
                for s, c, d in zip(second, ctime, dtime, strict=True)
            )


def recording(path: Path, seconds: int) -> None:
    """Record this machine's counters with sysstat's own collector, once a second."""
    places = (Path("/usr/lib/sysstat/sadc"), Path("/usr/lib/sa/sadc"), Path("/usr/lib64/sa/sadc"))
    found = [place for place in places if place.exists()]
    if not found:
        raise SystemExit("sadc is not here: apt-get install --no-install-recommends sysstat")
    subprocess.run([found[0], "-S", "XALL", "1", str(seconds), path], check=True, timeout=seconds + 30)


def sar_text(source: Path) -> str:
    """Every section of a recording, as ``LC_ALL=C sar -A`` prints it."""
    env = {"LC_ALL": "C", "TZ": "UTC", "PATH": "/usr/bin:/bin"}
    return subprocess.run(
        ["sar", "-A", "-f", source], env=env, capture_output=True, text=True, check=True, timeout=300
    ).stdout


def longer(sar: str, times: int) -> str:
    """The text of a recording `times` as long: each section's rows again and again, the clock going on."""
    blocks = sar.rstrip("\n").split("\n\n")
    long = [blocks[0]]
    for block in blocks[1:]:
        lines = block.split("\n")
        if lines[0].startswith("Average:"):
            long.append(block)
            continue
        rows = [line for line in lines[1:] if line[2:3] == ":"]  # not Average: and Summary:
        clocks = sorted({line[:8] for line in (lines[0], *rows)})
        span = _second(clocks[-1]) - _second(clocks[0])
        by_second = [(_second(line[:8]), line[8:]) for line in rows]
        long.append("\n".join([lines[0], *(
            f"{_clock(second + i * span)}{rest}" for i in range(times) for second, rest in by_second
        ), *lines[1 + len(rows) :]]))  # fmt: skip
    return "\n\n".join(long) + "\n"


def _second(clock: str) -> int:
    hours, minutes, seconds = clock.split(":")
    return int(hours) * 3600 + int(minutes) * 60 + int(seconds)


@cache
def _clock(second: int) -> str:
    return f"{second // 3600 % 24:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
