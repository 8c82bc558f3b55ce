"""No measured or computed number is typed: pages and notebooks take theirs from data.

Every digit in the prose of a page or a notebook must come from a macro, or belong to a citation, a name, a formula, a
quoted command, or the short list of constants below.
"""

import json
import re

from conftest import ROOT
from one_test import in_one_test

# What is no prose of ours: front matter, code, macros, formulas, addresses, numbered lists and headings.
NOT_PROSE = (
    r"\A---\n.*?\n---\n",
    r"```.*?```|<textarea.*?</textarea>",
    r"\{\{.*?\}\}|\{%.*?%\}",
    r"\$\$.*?\$\$|\$[^$]*\$",
    r"`[^`]*`",
    r"\[\d\d_[a-z0-9_]+\]\([^)]*\)",  # the name of a notebook, as a link
    r"\]\([^)]*\)|<[^>]*>|https?://\S+",
    r"^\s*\d+\.\s|^#+ \d+\.",
)
CITATION = (
    r"\b(?:1[6-9]|20)\d\d\b",
    r"\*[^*]+\*\s+(?:[A-Z]\s)?\d+(?:\(\d+\))?",  # *Journal* 12(3)
    r"\b(?:Surveys|Journal|Research\*?|Science|Systems|JASA|Society [AB])\s+(?:[AB]\s)?\d+(?:\(\d+\))?",
    r"\b(?:chapters?|sections?|equations?|appendix|RFC|IEEE|pages?|pp?\.|[Tt]ests?|part)\s+"
    r"[(A-Z]{0,2}[\d.()–]+(?:(?:,| to| and)\s+\(?[\d.]+\)?)*",
)
NAMES = (
    r"\bM/[MGD]/[1mc]\b|AR\(1\)|lag-1|MSER-5|SDM91|IPv[46]|TLS 1\.[23]|HTTP/1\.[01]|wrk2|usl4j|bzip2|p99|99th|R²|k6",
    r"\b(?:wrk|Linux|nginx|CentOS|Ubuntu|Debian) \d[\d.]*\d\b",
    r"\b10 (?:Gbit/s|GbE|Gigabit)\b|\b1/[sR]\b|1000 ms",
)
CONSTANTS = (
    r"(?<![\d.,])[012](?![\d.,]*\d)",  # nothing, one, and both
    r"\b(?:5|90|95|99|100) %|93–97 %",  # levels of confidence, and all
)
# Illustrations and settings, by page: what a reader may check against the sentence itself.
OF_PAGE = {
    "bottlenecks": {"12.5 %", "70 %", "700 ms"},
    "comparing_two_runs": {"0.1", "3.5", "0.5", "1.1 times", "contains 1.1"},
    "curves_and_forecasts": {"100 KB"},
    "method": {"90 字节"},
    "questions": {"1 kB", "30,000", "8 servers"},
    "studies": {"S2500"},
    "keep_alive_and_ports": {"32768 to", "60999", "60 s", "6)"},
    "knee_and_capacity": {"0…1", "32 connections", "10 ms", "20 ms", "0.1 %", "3/n", "20 % to 120 %"},
    "packets_and_wire": {
        "90 bytes", "1500", "20 for", "12 for", "1448", "1460", "14 Ethernet", "20 IP", "32 TCP", "8 preamble",
        "4 check", "12 gap", "24 bytes", "98 %", "10⁶", "16384", "22 bytes", "29", "45 segments", "10,000", "10,240",
    },
    "queueing": {"42 ms", "8 servers", "4 s", "10 s", "At 70", "at 80", "400 requests", "300 servers", "0.444 s"},
    "steady_state": {"0.1"},
    "throughput_and_connections": {"3 %"},
    "30_throughput_by_connections": {"±3 %", "616 bytes", "10 ms", "512 connections"},
    "20_data_quality": {"±10 %"},
    "48_interval_coverage": {"93 to 97 %"},
    # Beside the report's own settings, levels of the designs of its rerun.
    "50_nginx_10gbe": {
        "ITR 15000", "ITR 1500", "15k", "between 1298 and 1299", "between 1232 and 1233", "12 s", "with 80",
        "4 KiB", "1024 KiB", "10,000 bytes", "616 bytes", "with 800", "800 names", "with 8000", "80 names", "level 1",
        "level 6", "level 9", "of 20 ms", "of 20 ms.", "from 0.5 to", "4 %", "1233 bytes", "1 MB",
        "32 of the 800 names", "32 of 800", "32 in turns", "32 requested names of 800",
    },
    "51_rt_qps_threads": {"8 retries", "42 ms", "50 connections"},
    "41_queueing_network": {"42)/2", "22 threads", "42 ms", "0.1", "0.09", "0.08", "8 servers", "4 s", "10 s"},
    "42_wire_and_packets": {"66 bytes", "24 more", "those 24", "10 KB", "10,000 bytes"},
    "43_capacity_under_an_objective": {"3/n"},
    "44_compare_two_servers": {"1.1 times", "holds 1.1"},
    "45_published_curves": {"100 KB"},
    "47_scale_out_of_processors": {"10 KB", "100 KB"},
    "53_scale_out_lvs": {"腾云S2500", "S2500 with", "X710", "cx4"},
}  # fmt: skip


def sources():
    for page in sorted((ROOT / "handbook").rglob("*.md")):
        if page.parts[len(ROOT.parts) + 1] not in ("reference", "decisions", "guides"):
            yield page
    yield from sorted((ROOT / "notebooks").glob("*.ipynb"))


def text_of(path):
    text = path.read_text("utf-8")
    if path.suffix == ".md":
        return text
    cells = json.loads(text)["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def typed_numbers(text, allowed=()):
    """Numbers in prose, each with a word on both sides."""
    for pattern in NOT_PROSE + CITATION + NAMES:
        text = re.sub(pattern, " ", text, flags=re.DOTALL | re.MULTILINE)
    for phrase in sorted(allowed, key=len, reverse=True):
        text = text.replace(phrase, " ")
    for pattern in CONSTANTS:
        text = re.sub(pattern, " ", text)
    return [" ".join(found.split()) for found in re.findall(r"\S*\s?\S*\d\S*\s?\S*", text)]


@in_one_test("path", list(sources()), ids=lambda p: p.stem)
def test_no_number_is_typed(path):
    assert typed_numbers(text_of(path), OF_PAGE.get(path.stem, ())) == []


@in_one_test("page", sorted(OF_PAGE))
def test_every_allowed_constant_is_still_there(page):
    text = " ".join(" ".join(text_of(path).split()) for path in sources() if path.stem == page)
    assert [phrase for phrase in OF_PAGE[page] if phrase not in text] == []


@in_one_test(
    "prose",
    ["It made 691614 requests/s.", "The peak is at 96.5.", "faster by 8.3 %", "of 22 threads", "in 3 of 5 runs"],
)
def test_a_typed_number_is_found(prose):
    assert typed_numbers(prose)


@in_one_test(
    "prose",
    [
        "{{ value(nb, 'a.b2') }} of them",
        "*ACM Computing Surveys* 10(3), 1978, section 5.2",
        "the 99th percentile, at 95 %",
        "$N = 22$ and `-c 100`",
        "1. First",
        "an M/M/1 queue of HTTP/1.1",
    ],
)
def test_what_is_no_measurement_is_left_alone(prose):
    assert typed_numbers(prose) == []
