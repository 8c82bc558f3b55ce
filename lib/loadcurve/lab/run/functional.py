"""A run that tests functions instead of sending load: one command, whose files are the record."""

from pathlib import Path

from loadcurve.lab.functions import FunctionTest
from loadcurve.lab.hosts.executor import LocalExecutor
from loadcurve.lab.hosts.host import LOCAL
from loadcurve.lab.run.record import Record
from loadcurve.study import Command
from loadcurve.study.run import FUNCTIONS

_END = "end.txt"


def run_functions(test: FunctionTest, folder: Path, record: Record) -> tuple[str, str]:
    """Run a functional test in the folder of a run; return the run's status and reason.

    Whether the functions work is judged later, from the files; a run is finished when the test reached its end.
    """
    executor = LocalExecutor(LOCAL, folder)
    executor.put(test.files)
    (folder / "functions.sh").chmod(0o755)  # the first process of another kernel
    argv = executor.argv(test.argv(), test.limit_s)
    started = executor.start(
        Command(FUNCTIONS, test.balancer, argv, "functions.console.txt", "functions.err", test.limit_s)
    )
    number = record.number()
    try:
        ended = executor.wait(started)
    except BaseException:
        record.commands.append((number, executor.stop(started)))
        raise
    record.commands.append((number, ended))
    if not (folder / _END).is_file():
        return "failed", f"the functional test did not reach its end (exit code {ended.exit_code}), see errors.txt"
    return "finished", ""
