"""A damaged word of a report never loses a number without a warning: headings, labels and keys, one letter changed."""

import json
import re
from pathlib import Path

import pytest

from loadcurve.errors import ParseError
from loadcurve.ingest.clean import clean
from loadcurve.ingest.registry import form_of
from loadcurve.ingest.sniff import parse

DATA = Path(__file__).parents[1] / "data"
# Of the words before a report, its command and its host, nothing tells that they are damaged.
CASES = {
    "weighttp/flaky": "weighttp|http.*", "weighttp/keepalive": "weighttp|http.*", "weighttp/v04": "",
    "siege/json": "", "siege/text": "SIEGE|Preparing|concurrent|users|for|battle", "pidstat/sections": "",
    "pidstat/one-line": "", "pidstat/threads": "", "wrk/plain": "", "wrk/latency": "", "wrk/five-reports": "",
    "ab/flaky": "", "hey/plain": "", "mpstat/interrupts": "TIMER|NET_[TR]X|SCHED|RCU|HI|intr",
}  # fmt: skip
WORD = re.compile(r"[A-Za-z][A-Za-z_-]{2,}")


def numbers_of(parsed):
    found = set()
    for name in parsed.tables:
        for at, row in enumerate(parsed.tables[name].to_dict("records")):
            found |= {
                (name, at, key, value)
                for key, value in row.items()
                if isinstance(value, int | float) and value == value
            }
    return found


@pytest.mark.parametrize("case", CASES)
def test_no_number_is_lost_or_changed_in_silence(case):
    path = DATA / case
    form = form_of(path.parent.name, json.loads(path.with_suffix(".json").read_text("utf-8")).get("variant", ""))
    text = clean(path.with_suffix(".txt").read_text("utf-8"))[:5000]
    text = text[: text.rindex("\n") + 1]
    plain = form.parse(text)
    numbers, said, seen = numbers_of(plain), set(plain.warnings), set()
    for match in WORD.finditer(text):
        word = match[0]
        if word in seen or (CASES[case] and re.fullmatch(CASES[case], word)):
            continue
        seen.add(word)
        at = match.start() + len(word) // 2
        try:
            found = form.parse(f"{text[:at]}Q{text[at + 1 :]}")
        except ParseError:
            continue
        assert set(found.warnings) - said or numbers_of(found) == numbers, word


def test_a_heading_of_ipvs_connections_in_another_order_is_refused():
    row = "TCP 14:59  ESTABLISHED 198.18.0.2:40000   198.18.0.9:80 198.18.0.3:80\n"
    right = "IPVS connection entries\npro expire state       source             virtual            destination\n"
    assert parse(right + row).tables["flows"].virtual_address.tolist() == ["198.18.0.9"]
    for wrong in (right.replace("virtual            destination", "destination virtual"), right.replace("state ", "")):
        with pytest.raises(ParseError, match="the columns pro expire state source virtual destination"):
            parse(wrong + row)


def test_connections_of_the_kernel_need_no_heading():
    rows = (
        "TCP C6120002 9C40 C6120009 0050 C6120003 0050 ESTABLISHED     899\n"
        "TCP C6120002 9C42 C6120009 0050 C6120004 0050 TIME_WAIT       118\n"
    )
    parsed = parse(rows)
    columns = ["client_address", "client_port", "virtual_address", "server_address", "server_port", "expires_s"]
    assert parsed.tables["flows"][columns].values.tolist() == [
        ["198.18.0.2", "40000", "198.18.0.9", "198.18.0.3", "80", 899.0],
        ["198.18.0.2", "40002", "198.18.0.9", "198.18.0.4", "80", 118.0],
    ]
    assert "no heading" in parsed.warnings[0]
