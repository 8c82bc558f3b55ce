"""Published tables: the declared columns, numbers as numbers, and a garbled cell named by file and line."""

import pytest

from loadcurve import read_published
from loadcurve.errors import LoadcurveError, ParseError
from loadcurve.files.reads import studies_read


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A checkout with one published source; gives a function that writes its CSV."""
    folder = tmp_path / "data" / "published" / "some"
    folder.mkdir(parents=True)
    (folder / "source.yml").write_text('tables: {rates: {setup: "text, role", throughput_rps: a peak}}\n', "utf-8")
    monkeypatch.setenv("LOADCURVE_ROOT", str(tmp_path))
    return lambda text: (folder / "rates.csv").write_text(text, "utf-8")


def test_numbers_words_and_missing(source, tmp_path, monkeypatch):
    ledger = tmp_path / "reads"
    monkeypatch.setenv("LOADCURVE_READS", str(ledger))
    source('setup,throughput_rps\n"a, b",1.5\nc,\n')
    table = read_published("some", "rates")
    assert table["setup"].tolist() == ["a, b", "c"]
    assert table["throughput_rps"].tolist() == [1.5, pytest.approx(float("nan"), nan_ok=True)]
    assert "published/some" in studies_read
    assert ledger.read_text("utf-8").split("\0")[:-1] == [
        "data/published/some/source.yml",
        "data/published/some/rates.csv",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("setup,throughput_rps\na,1\nb,l2\n", "rates.csv:3: expected a number as throughput_rps, got 'l2'"),
        ("setup,throughput_rps\na,1O\n", "rates.csv:2: expected a number as throughput_rps, got '1O'"),
        ("setup,throughput_rps\na,inf\n", "rates.csv:2: expected a number as throughput_rps, got 'inf'"),
        ("setup,throughput_rps\na\n", "rates.csv:2: expected 2 cells, got 'a'"),
        ("", "rates.csv:1: expected setup, throughput_rps, got ''"),
        ("setup,rps\na,1\n", "rates.csv:1: expected setup, throughput_rps, got 'setup, rps'"),
    ],
)
def test_a_garbled_file_is_named_with_its_line(source, text, message):
    source(text)
    with pytest.raises(ParseError, match=message):
        read_published("some", "rates")


def test_what_is_not_there(source):
    source("setup,throughput_rps\na,1\n")
    with pytest.raises(LoadcurveError, match="source must be one of some, got 'other'"):
        read_published("other", "rates")
    with pytest.raises(LoadcurveError, match="table must be one of rates, got 'cpu'"):
        read_published("some", "cpu")


# "Nginx 万兆网络环境测试", tests 2 and 5, typed a second time from the report: ITR, size, requests/s, "MBps", CPU %.
TYPED_AGAIN = [
    (2, 1000, 0, 688425, 186.886, 30.112, 52.936, 16.951),
    (2, 1500, 0, 691614, 187.408, 30.125, 52.208, 17.667),
    (2, 2500, 0, 682326, 183.277, 29.191, 53.253, 17.556),
    (2, 3500, 0, 650367, 175.477, 26.803, 56.732, 16.382),
    (2, 4500, 0, 630178, 169.474, 26.417, 56.708, 16.833),
    (2, 1500, 616, 586296, 459.435, 29.583, 54.250, 16.083),
    (2, 1500, 1232, 579103, 838.146, 29.471, 50.563, 16.048),
    (2, 1500, 1233, 513099, 772.826, 28.417, 48.875, 22.708),
    (2, 1500, 2590, 418226, 1173.760, 23.343, 41.934, 18.216),
    (2, 5000, 2590, 418216, 1172.530, 24.250, 55.792, 19.667),
    (2, 10000, 2590, 417989, 1171.960, 24.625, 52.958, 22.292),
    (2, 15000, 2590, 404330, 1132.490, 23.802, 52.855, 23.343),
    (5, 1500, 0, 392406, 165.185, 39.533, 26.647, 30.234),
    (5, 1500, 1232, 369582, 588.209, 41.142, 28.595, 28.929),
    (5, 1500, 2590, 296866, 898.885, 34.250, 29.417, 36.167),
    (5, 1500, 10240, 118163, 1167.280, 17.870, 18.319, 15.218),
    (5, 15000, 1232, 370590, 588.422, 41.167, 28.375, 29.208),
    (5, 15000, 2590, 297289, 897.755, 34.890, 28.429, 35.682),
    (5, 15000, 10240, 118033, 1168.160, 21.137, 21.426, 25.752),
    (5, 15000, 102400, 11388, 1168.890, 4.798, 12.542, 10.522),
]


def test_nginx_10gbe_as_typed_a_second_time():
    table = read_published("nginx_10gbe", "rates")
    first = table[table["test"].isin([2, 5]) & table["repeats_test"].isna()]
    columns = ["test", "interrupts_per_s", "response_bytes", "throughput_rps", "bandwidth_as_printed"]
    assert first[columns].to_numpy().tolist() == [list(row[:5]) for row in TYPED_AGAIN]
    shares = 100 * first[["cpu_user_ratio", "cpu_system_ratio", "cpu_irq_ratio"]].to_numpy()
    assert shares.tolist() == [pytest.approx(row[5:]) for row in TYPED_AGAIN]
    in_si = table["bandwidth_as_printed"] * 2**20
    assert table["sent_bytes_per_s"].to_numpy() == pytest.approx(in_si.to_numpy(), abs=0.5)
