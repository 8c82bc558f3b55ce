"""pidstat: its options, threads, older versions, commands with blanks."""

from pathlib import Path

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.ingest.sniff import parse
from loadcurve.ingest.sysstat.pidstat import parse_pidstat

DATA = Path(__file__).parents[2] / "data/pidstat"
SECTIONS = (DATA / "sections.txt").read_text()
THREADS = (DATA / "threads.txt").read_text()
HEADING = "Linux 6.1.0 (vm)  11/20/26  _x86_64_ (2 CPU)\n\n"


@examples(50)
@given(
    pid=st.integers(1, 4194304),
    percents=st.lists(st.integers(0, 80000), min_size=5, max_size=5),
    command=st.text("abcxyz:/-() 0123456789", min_size=1).map(str.strip).filter(bool),
)
def test_rows_that_pidstat_can_print_come_back(pid, percents, command):
    header = "22:33:25      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command\n"
    cells = " ".join(f"{n / 100:7.2f}" for n in percents)
    task = parse_pidstat(f"{HEADING}{header}22:33:26     1000 {pid:9} {cells}   {3:3}  {command}\n").tables["processes"]
    names = ["user", "system", "guest", "wait", "used"]
    assert [task[f"cpu_{name}_ratio"][0] for name in names] == pytest.approx([n / 1e4 for n in percents], abs=1e-9)
    assert (task.pid[0], task.command[0], task.cpu[0]) == (pid, command, "3")


def test_sections_of_an_instant_are_one_row():
    text = (
        f"{HEADING}22:33:25      UID       PID  minflt/s  majflt/s     VSZ    RSS   %MEM  Command\n"
        "22:33:26        0         7      1.00      0.00   41.2M    2.0M   0.5%  my server\n\n"
        "22:33:25      UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command\n"
        "22:33:26        0         7     -1.00      4.00      0.00       3  my server\n\n"
        "22:33:25      UID       PID threads   fd-nr  Command\n"
        "22:33:26        0         7      12      34  my server\n\n"
        "22:33:25      UID       PID prio policy  Command\n"
        "22:33:26        0         7   99   FIFO  my server\n"
    )
    task = parse(text).tables["processes"]
    assert len(task) == 1
    row = task.iloc[0]
    assert (row.command, row.virtual_bytes, row.memory_ratio) == ("my server", 41.2 * 1048576, 0.005)
    assert "read_bytes_per_s" not in task  # -1.00 is not known
    assert (row.written_bytes_per_s, row.io_delay_ticks, row.threads, row.descriptors) == (4096, 3, 12, 34)
    assert (row.priority, row.policy) == ("99", "FIFO")


def test_older_one_line_form_has_seconds_since_1970():
    text = (
        "Linux 2.6.32 (host)  11/21/2014  _x86_64_ (4 CPU)\n\n"
        "#      Time       PID    %usr %system  %guest    %CPU   CPU  minflt/s  majflt/s     VSZ  Command\n"
        " 1416565600      1234    1.00    0.50    0.00    1.50     2      0.00      0.00   10000  java -jar x\n"
    )
    row = parse(text).tables["processes"].iloc[0]
    assert (str(row.time), row.pid, row.command) == ("2014-11-21 10:26:40+00:00", 1234, "java -jar x")


def test_threads_of_the_old_one_line_form():
    text = (
        f"{HEADING}#      Time      TGID       TID    %usr %system  %guest    %CPU   CPU  Command\n"
        " 1416565600      1234         0    1.00    0.50    0.00    1.50     2  java\n"
        " 1416565600         0      1235    1.00    0.50    0.00    1.50     2  |__java\n"
    )
    assert parse(text).tables["processes"][["pid", "command"]].values.tolist() == [[1234, "java"]] * 2


def test_children_and_languages():
    text = (
        f"{HEADING}22:33:25      UID       PID    usr-ms system-ms  guest-ms  Command\n"
        "22:33:26        0      1680      1000         0         0  python\n\n"
        "Moyenne :     UID       PID    usr-ms system-ms  guest-ms  Command\n"
        "Moyenne :       0      1680      1000         0         0  python\n"
    )
    tables = parse(text).tables
    first = tables["counters"][["item", "counter", "value", "unit"]].values.tolist()[0]
    assert first == ["1680 python", "usr-ms", 1.0, "s"]
    assert len(tables["averages"]) == 3


def test_nothing_active_is_no_error():
    parsed = parse_pidstat(f"{HEADING}22:33:25      UID       PID    %usr   CPU  Command\n")
    assert list(parsed.tables) == ["hosts"]
    assert "no task" in parsed.warnings[0]
