"""Thousands separators: what people put into numbers is taken off, in every text, and nothing else is."""

import re
from pathlib import Path

import pytest

from loadcurve.ingest.clean import clean
from loadcurve.ingest.form import without_separators
from loadcurve.ingest.registry import FORMS, form_of
from loadcurve.ingest.sniff import parse, sniff

DATA = Path(__file__).parents[1] / "data"
TEXTS = sorted(p for p in DATA.glob("*/*.txt") if p.parent.name in {form.tool for form in FORMS})
NUMBER = re.compile(r"(?<![^\s(])((?:[a-z]+=)?)([1-9][0-9]{3,17})(?=[),;:]?(?:\s|$))")


def separated(text, separator):
    return NUMBER.sub(lambda match: match[1] + f"{int(match[2]):,}".replace(",", separator), text)


@pytest.mark.parametrize("separator", [",", "'", "’", "_"])
def test_every_text_comes_back(separator):
    changed = 0
    for path in TEXTS:
        text = clean(path.read_bytes().decode("utf-8"))
        form = sniff(text)
        again, warnings = without_separators(separated(text, separator))
        if form.commas:
            continue
        assert again == without_separators(text)[0], path
        assert bool(warnings) == (separated(text, separator) != text), path
        changed += bool(warnings)
    assert changed > 60


def test_no_text_of_a_tool_has_any():
    texts = {path: clean(path.read_bytes().decode("utf-8")) for path in TEXTS}
    plain = {path: text for path, text in texts.items() if not sniff(text).commas and text.lstrip()[:1] not in "[{"}
    assert len(plain) > 100
    assert {path: found for path, text in plain.items() if (found := without_separators(text)) != (text, [])} == {}


@pytest.mark.parametrize("tool", ["nginx", "conntrack", "ss", "pidstat", "proc", "wrk", "ab", "siege", "sar"])
def test_tables_are_the_same_with_a_warning(tool):
    texts = [clean(path.read_text("utf-8")) for path in TEXTS if path.parent.name == tool]
    text = next(text for text in texts if NUMBER.search(text) and not sniff(text).commas)
    plain, odd = parse(text), parse(separated(text, ","))
    assert odd.tool == plain.tool
    assert any("thousands separators are taken off" in warning for warning in odd.warnings), odd.warnings
    for name in plain.tables:
        assert odd.tables[name].equals(plain.tables[name]), name


@pytest.mark.parametrize(
    "text",
    ["0,035", "98,51", "1.234.567", "192.168.100.200", "http://h/1,234", "tcp dports 80,4430", "12,34,567", "1,2345"],
)
def test_what_is_no_separator_stays(text):
    assert without_separators(text) == (text, [])


def test_a_list_keeps_its_commas():
    rule = "-A INPUT -p tcp -m multiport --dports 80,443 -j ACCEPT"
    assert form_of("iptables", "").commas
    assert without_separators(rule)[1] != []  # so it must never be asked
