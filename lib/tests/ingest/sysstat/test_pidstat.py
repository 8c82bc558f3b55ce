"""pidstat: its options, threads, older versions, commands with blanks."""

from pathlib import Path

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

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
