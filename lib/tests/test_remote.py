"""Remote folders: a batch and tables on a real S3 server on the loopback interface, and what is wrong, in one line."""

import importlib
import subprocess
import sys
import time

import pandas as pd
import pytest
from kernel import HANG_S, write_notebook
from s3_server import bucket, s3_server, s3_settings  # noqa: F401  # fixtures
from test_batch_grid import books, executed, run  # noqa: F401

from loadcurve import reading
from loadcurve.errors import LoadcurveError
from loadcurve.files.remote import RemoteFolder, local_copy

pytestmark = pytest.mark.slow

REPORT = """\
Running 10s test @ http://10.0.0.1/
  2 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.00ms    0.10ms   2.00ms   70.00%
    Req/Sec    10.00k     1.00k   11.00k    70.00%
  200000 requests in 10.00s, 20.00MB read
Requests/sec:  20000.00
Transfer/sec:      2.00MB
"""


def files(url):
    return sorted(RemoteFolder(url).names())


def test_a_batch_is_written_to_a_bucket_and_resumed_from_there(books, executed, checkout, bucket):  # noqa: F811
    out = f"{bucket}/grids/first"
    assert run(books, out)[0] == ["made"] * 4
    names = ["a,share=0.1", "a,share=0.2", "b,share=0.1", "b,share=0.2"]
    figures = ("curve.json", "curve.svg", "values.json")
    every = {f"{name}.figures/{file}" for name in names for file in figures} | {f"{name}.ipynb" for name in names}
    assert files(out) == sorted(every | {"index.html", "values.parquet"})
    assert not list(checkout.rglob("*s3*")), "nothing is written to a local folder of this name"
    assert pd.read_parquet(f"{out}/values.parquet")["output"].unique().tolist() == names
    with local_copy(f"{out}/index.html") as page:
        assert "first: 4 outputs of 2 notebooks" in page.read_text("utf-8")

    remote = RemoteFolder(out)
    for lost, again in (("a,share=0.2.ipynb", names[1]), ("b,share=0.1.figures/curve.svg", names[2])):
        remote.remove([lost])
        executed.clear()
        states, said = run(books, out)
        assert executed == [again] and sorted(states) == ["kept"] * 3 + ["made"]
        assert "3 of 4 outputs are complete" in said
        assert set(files(out)) == every | {"index.html", "values.parquet"}


def test_a_notebook_that_fails_is_kept_in_the_bucket(books, executed, checkout, bucket, monkeypatch, called):  # noqa: F811
    monkeypatch.chdir(checkout)
    argv = ["batch", "b.ipynb", "--jobs", "1", "-o", f"{bucket}/out/", "--grid"]
    code, out, err = called(*argv, "share=0.2,0.4")
    assert code == 1 and f"{bucket}/out/index.html: 1 of 2 outputs are complete, 1 failed" in out
    kept = f"{bucket}/out/b,share=0.4.failed.ipynb"
    assert f"  partial notebook: {kept}\n" in err and "b,share=0.4.failed.ipynb" in files(f"{bucket}/out")
    assert "b,share=0.4.ipynb" not in files(f"{bucket}/out")


def test_a_killed_batch_goes_on_with_what_is_missing_in_the_bucket(tmp_path, bucket):  # noqa: F811
    """Two real kernels; the batch is killed when the first output is in the bucket and the second is not."""
    code = (
        "import pathlib, time\n"
        f"here = pathlib.Path({str(tmp_path)!r})\n"
        "(here / 'started').open('a').write(f'{number}\\n')\n"
        "while number == 2 and not (here / 'open').exists():\n    time.sleep(0.02)"
    )
    write_notebook(tmp_path / "n.ipynb", "number: int = 0  # number ≥ 1: x", code)
    argv = ["batch", "n.ipynb", "--grid", "number=1,2", "--jobs", "1", "-o", f"{bucket}/out"]
    command = {"args": [sys.executable, "-m", "loadcurve", *argv], "cwd": tmp_path, "text": True}
    first = subprocess.Popen(**command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    end = time.monotonic() + HANG_S
    while files(f"{bucket}/out") != ["n,number=1.ipynb"] or (tmp_path / "started").read_text().split() != ["1", "2"]:
        assert time.monotonic() < end and first.poll() is None, first.communicate()
        time.sleep(0.05)
    first.kill()
    first.communicate()
    (tmp_path / "open").touch()
    done = subprocess.run(**command, capture_output=True, timeout=HANG_S)
    assert done.returncode == 0, done
    assert "1 of 2 outputs are complete" in done.stderr
    assert done.stdout == f"{bucket}/out/index.html: 2 of 2 outputs are complete\n"
    assert (tmp_path / "started").read_text().split() == ["1", "2", "2"]
    assert files(f"{bucket}/out") == ["index.html", "n,number=1.ipynb", "n,number=2.ipynb", "values.parquet"]


def test_a_file_url_is_a_local_folder(books, executed, checkout):  # noqa: F811
    assert run(books, f"file://{checkout}/my%20grid/")[0] == ["made"] * 4
    assert run(books, checkout / "my grid")[0] == ["kept"] * 4
    with pytest.raises(LoadcurveError, match=r"expected file:///PATH with three slashes, got the host 'there'"):
        run(books, "file://there/grid")


@pytest.fixture
def raw(bucket, tmp_path):  # noqa: F811
    """A remote folder with two reports of wrk, and the same files in a local one."""
    folder = tmp_path / "raw"
    for at in ("c1.wrk.txt", "more/c64.wrk.txt"):
        (folder / at).parent.mkdir(parents=True, exist_ok=True)
        (folder / at).write_text(REPORT)
    remote = RemoteFolder(f"{bucket}/raw")
    remote.send(folder, ["c1.wrk.txt", "more/c64.wrk.txt"])
    return remote.url, folder


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_remote_folder_becomes_remote_tables(raw, bucket, called, tmp_path, form):  # noqa: F811
    url, folder = raw
    code, out, err = called("ingest", url, "--format", form, "-o", f"{bucket}/tables")
    assert code == 0 and out.startswith(f"{bucket}/tables: runs 2"), err
    assert called("ingest", folder, "--format", form, "-o", tmp_path / "tables")[0] == 0
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet}[form]
    here, there = read(tmp_path / f"tables/runs.{form}"), read(f"{bucket}/tables/runs.{form}")
    assert there["source"].tolist() == [f"{url}/c1.wrk.txt", f"{url}/more/c64.wrk.txt"]
    pd.testing.assert_frame_equal(there.drop(columns="source"), here.drop(columns="source"))


def test_one_remote_file_and_a_remote_folder_are_read(raw, called):
    url, folder = raw
    code, out, _ = called("ingest", f"{url}/more/c64.wrk.txt")
    assert code == 0 and f'"source": "{url}/more/c64.wrk.txt", "tool": "wrk"' in out and str(folder) not in out
    found = reading.read(url)
    assert found.tables["runs"]["throughput_rps"].tolist() == [20000, 20000]
    assert found.tables["runs"]["source"].str.startswith(f"{url}/").all()
    assert len(found.warnings) == len(reading.read(folder).warnings)
    (folder / "bad.txt").write_text("nothing")
    RemoteFolder(url).send(folder, ["bad.txt"])
    code, out, err = called("ingest", url)
    assert code == 1 and err.startswith(f"{url}/bad.txt:1: expected ") and len(out.splitlines()) == 2


@pytest.mark.parametrize("command", ["analyse", "audit"])
def test_a_remote_folder_is_answered_as_its_copy_is(raw, called, command):
    url, folder = raw
    there, here = called(command, url), called(command, folder)
    # A path's length decides where lines are broken.
    assert there[1].replace(url, str(folder)).split() == here[1].split()
    assert there[0] == here[0] and "Traceback" not in there[2]


def test_a_report_is_not_written_to_a_folder_named_like_a_protocol(raw, called, checkout, monkeypatch):
    monkeypatch.chdir(checkout)
    for argv in (["analyse", raw[1]], ["audit", raw[1]], ["run", "n.ipynb"]):
        code, _, err = called(*argv, "-o", "s3://bucket/page.html")
        assert code == (2 if argv[0] == "audit" else 1)
        assert err == "output must be a local file, got s3://bucket/page.html: write it here, then copy it\n"


@pytest.mark.parametrize(
    ("url", "setting", "says"),
    [
        ("s3://no-such-bucket/x", {}, "The specified bucket does not exist; create the bucket, or check the URL"),
        ("BUCKET/none", {}, "expected a file or a folder, got nothing of that name"),
        ("s3://any/x", {"AWS_ACCESS_KEY_ID": None}, "Unable to locate credentials; set AWS_ACCESS_KEY_ID and AWS_SEC"),
        (
            "s3://any/x",
            {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"},
            'Could not connect to the endpoint URL: "http://127',
        ),
        ("s9://any/x", {}, "Protocol not known: s9"),
        ("gs://any/x", {}, "its file system is not installed: pip install 'gcsfs'"),
    ],
)
def test_what_is_wrong_with_a_remote_folder_is_one_line(bucket, monkeypatch, called, checkout, url, setting, says):  # noqa: F811
    import s3fs

    monkeypatch.setattr(s3fs.S3FileSystem, "retries", 1)
    for name, value in setting.items():
        monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name)
    named = url.replace("BUCKET", bucket)
    commands = [["ingest", named]]
    if "none" not in url:
        (checkout / "c1.wrk.txt").write_text(REPORT)
        write_notebook(checkout / "n.ipynb", "n: int = 1")
        commands.append(["ingest", checkout / "c1.wrk.txt", "--format", "csv", "-o", named])
        commands.append(["batch", checkout / "n.ipynb", "-o", named])
    for argv in commands:
        s3fs.S3FileSystem.clear_instance_cache()
        code, out, err = called(*argv)
        assert (code, out) == (1, ""), argv
        assert err.startswith(f"{named}: {says}") and err.count("\n") == 1, err


def test_without_s3fs_the_line_names_the_extra(monkeypatch, called):
    monkeypatch.setitem(sys.modules, "s3fs", None)
    registry = importlib.import_module("fsspec.registry")
    monkeypatch.delitem(registry._registry, "s3", raising=False)
    code, out, err = called("ingest", "s3://bucket/x")
    assert (code, out) == (1, "")
    assert err == "s3://bucket/x: its file system is not installed: pip install 'loadcurve[s3]'\n"


def test_a_name_that_leaves_the_folder_is_not_fetched(bucket, tmp_path):  # noqa: F811
    """Names in a bucket are free: a copy must not write beside its folder."""
    import s3fs

    s3fs.S3FileSystem().pipe_file(f"{bucket}/raw/../../../escaped", b"x")
    with pytest.raises(LoadcurveError, match=r"expected names without '..' and empty parts, got '../../../escaped'"):
        RemoteFolder(f"{bucket}/raw").fetch(RemoteFolder(f"{bucket}/raw").names(), tmp_path)
    assert list(tmp_path.iterdir()) == []
