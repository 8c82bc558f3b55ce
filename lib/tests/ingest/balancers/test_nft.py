"""nft: rules as text and as JSON say the same; what is refused."""

from pathlib import Path

from loadcurve import parse

DATA = Path(__file__).parents[2] / "data"
TEXT = (DATA / "nft/ruleset.txt").read_text()
JSON = (DATA / "nft/json.txt").read_text()


def test_text_and_json_say_the_same():
    text, document = parse(TEXT).tables, parse(JSON).tables
    assert text["counters"]["value"].tolist() == document["counters"]["value"].tolist()
    columns = ["kind", "service", "virtual_address", "virtual_port", "protocol", "connections"]
    assert text["balancer"][columns].equals(document["balancer"][columns])


def test_a_series_has_times():
    table = parse(f"## 2026-11-20T23:40:00Z\n{TEXT}## 2026-11-20T23:40:05Z\n{TEXT}").tables["counters"]
    assert len(table) == 12 and table["time"].dt.second.unique().tolist() == [0, 5]


def test_without_counters_there_is_a_warning():
    parsed = parse("table inet filter {\n\tchain input {\n\t\ttcp dport 22 accept\n\t}\n}\n")
    assert len(parsed.tables["counters"]) == 0 and len(parsed.warnings) == 1
