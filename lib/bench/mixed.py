"""A folder as weeks of load tests leave it: thousands of small reports, some long recordings, and a few large logs."""

import itertools
from pathlib import Path

import numpy as np
import texts

FIXTURES = Path(__file__).parents[1] / "tests" / "data"
_TOOLS = ("ab", "h2load", "hey", "ipvsadm", "iostat", "k6", "mpstat", "nginx", "sar", "ss", "vegeta", "vmstat", "wrk")
_SEED = 20261123
# Share of each kind of text in the size of the folder, and bytes of one file for each gigabyte of the folder.
_LARGE = {
    "access.log": (0.30, 100e6),
    "sar.txt": (0.18, 30e6),
    "ss-details.txt": (0.15, 15e6),
    "ss.txt": (0.10, 10e6),
    "attack.csv": (0.10, 50e6),
    "requests.tsv": (0.10, 25e6),
    "error.log": (0.03, 10e6),
    "vmstat.txt": (0.02, 5e6),
}


def write_folder(folder: Path, size: float) -> None:
    """Write a folder of about `size` bytes; no two of its large files are alike, and their bytes depend on nothing."""
    small = _small_files()
    for i, source in zip(range(round(size / 250e3)), itertools.cycle(small), strict=False):
        place = folder / f"{i // 8:05d}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{source.parent.name}-{source.stem}.txt").write_bytes(source.read_bytes())
    for number, (name, (share, bytes_of_file)) in enumerate(_LARGE.items()):
        for i, part in enumerate(_parts(share * size, bytes_of_file * size / 1e9)):
            place = folder / f"large-{i:02d}"
            place.mkdir(parents=True, exist_ok=True)
            (place / "wrk.txt").write_bytes((FIXTURES / "wrk" / "plain.txt").read_bytes())
            _WRITE[name](place / name, part, np.random.default_rng([_SEED, number, i]))


def _small_files() -> list[Path]:
    """Fixtures of the tools that one folder is likely to hold, those of a tool apart from each other."""
    of_tool = [sorted((FIXTURES / tool).glob("*.txt")) for tool in _TOOLS]
    return [path for group in itertools.zip_longest(*of_tool) for path in group if path]


def _parts(total: float, largest: float) -> list[float]:
    """Sizes of the files of a kind: the first is the largest, the others have between a fifth and half of its size."""
    sizes = [min(total, largest)]
    while (left := total - sum(sizes)) > largest / 10:
        sizes.append(min(left, largest * (0.2 + 0.1 * (len(sizes) % 4))))
    return sizes


def _access_log(path: Path, size: float, draw: np.random.Generator) -> None:
    """What nginx logs with its times after the combined format: few pages are requested often, many once."""
    agents = [f"Mozilla/5.0 (X11; Linux x86_64; rv:{v}.0) Gecko/20100101 Firefox/{v}.0" for v in range(60, 140)]
    n = round(size / 205)
    pages, clients = draw.zipf(1.4, n) % 100_000, draw.integers(1, 5000, n)
    times, sizes = draw.lognormal(-6, 1, n), draw.integers(200, 90_000, n)
    second = np.sort(draw.integers(0, 86_400, n))
    with path.open("w", encoding="ascii") as out:
        for page, client, took, body, at in zip(pages.tolist(), clients.tolist(), times.tolist(), sizes.tolist(),
                                                second.tolist(), strict=True):  # fmt: skip
            status = 404 if page % 97 == 0 else 502 if took > 0.2 else 200
            out.write(
                f"10.0.{client % 250}.{client // 250 + 1} - - [20/Nov/2026:{at // 3600:02d}:{at // 60 % 60:02d}:"
                f'{at % 60:02d} +0000] "GET /pages/{page}.html HTTP/1.1" {status} {body} "-" "{agents[client % 80]}" '
                f"rt={took:.3f} urt={took * 0.9:.3f}\n"
            )


def _sar(path: Path, size: float, draw: np.random.Generator) -> None:
    text = (FIXTURES / "sar" / "file-sections.txt").read_text("utf-8")
    long = texts.longer(text, int(draw.integers(20, 40)))
    path.write_text(texts.longer(text, round(35 * size / len(long))), "utf-8")


def _attack(path: Path, size: float, draw: np.random.Generator) -> None:
    """What ``vegeta encode -to csv`` writes, one line for each hit."""
    n = round(size / 120)
    took, body = draw.lognormal(14, 1, n).astype(int).tolist(), draw.integers(200, 90_000, n).tolist()
    with path.open("w", encoding="ascii") as out:
        for i, (ns, read) in enumerate(zip(took, body, strict=True)):
            status = 503 if ns % 211 == 0 else 200
            out.write(
                f"{1795213596000000000 + i * 500_000},{status},{ns},0,{read},,,attack,{i},GET,"
                f"http://198.18.0.3/pages/{read % 500}.html,\n"
            )


def _error_log(path: Path, size: float, draw: np.random.Generator) -> None:
    n = round(size / 220)
    seconds, clients = np.sort(draw.integers(0, 86_400, n)).tolist(), draw.integers(1, 65_000, n).tolist()
    with path.open("w", encoding="ascii") as out:
        for at, client in zip(seconds, clients, strict=True):
            clock = f"{at // 3600:02d}:{at // 60 % 60:02d}:{at % 60:02d}"
            out.write(
                f"2026/11/20 {clock} [error] 11168#11168: *{client} connect() failed (111: Connection refused) while "
                f"connecting to upstream, client: 10.0.0.{client % 250}, server: _, request: "
                f'"GET /{client} HTTP/1.1", upstream: "http://198.18.0.4:80/{client}"\n'
            )


def _vmstat(path: Path, size: float, draw: np.random.Generator) -> None:
    n = round(size / 82)
    head = "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n"
    names = " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
    with path.open("w", encoding="ascii") as out:
        for i, (run, free, cs, us) in enumerate(draw.integers([1, 10**6, 500, 1], [9, 10**8, 90_000, 60], (n, 4))):
            if i % 22 == 0:
                out.write(head + names)
            out.write(f"{run:2d}  0      0 {free:8d}   1888 205328    0    0     0    20 {cs // 2:4d} {cs:5d} {us:2d}"
                      f" 20 {80 - us:2d}  0  0\n")  # fmt: skip


_WRITE = {
    "access.log": _access_log,
    "sar.txt": _sar,
    "ss-details.txt": lambda path, size, draw: texts.ss_details(path, round(size / 780), int(draw.integers(1 << 30))),
    "ss.txt": lambda path, size, draw: texts.ss_list(path, round(size / 72), int(draw.integers(1 << 30))),
    "attack.csv": _attack,
    "requests.tsv": lambda path, size, draw: texts.ab_requests(path, round(size / 44), int(draw.integers(1 << 30))),
    "error.log": _error_log,
    "vmstat.txt": _vmstat,
}
