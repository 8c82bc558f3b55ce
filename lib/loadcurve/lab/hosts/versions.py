"""Versions of the tools of a run, asked on the host that they run on."""

from loadcurve.errors import LabError
from loadcurve.lab.hosts.executor import Executor
from loadcurve.lab.hosts.tools import TOOLS, version, version_in

# Tools print their version to either stream, and some end with an error then.
_ASK = (
    "import subprocess, sys; done = subprocess.run(sys.argv[1:], capture_output=True, timeout=10); "
    "sys.stdout.buffer.write(done.stdout + done.stderr)"
)
_LIMIT_S = 15.0
# Of hosts beyond this machine, by URL, tool and program: they are asked once for a launch, not for each run.
_known: dict[tuple[str, str, str], str] = {}


def version_at(executor: Executor, tool: str, program: str = "") -> str:
    """Version of a tool as it prints it on a host; empty where it says none.

    Parameters
    ----------
    executor : Executor
        On its host.
    tool : str
        One of `TOOLS`.
    program : str
        Its name or path, where it is not the usual one.
    """
    own = "" if program == tool else program
    if executor.is_here:
        return version(tool, own)
    if tool not in TOOLS or not TOOLS[tool].flag:
        return ""
    key = (executor.connection.url, tool, own)
    if key not in _known:
        argv = ("python3", "-I", "-S", "-c", _ASK, own or tool, TOOLS[tool].flag)
        try:
            _known[key] = version_in(executor.check_output(argv, _LIMIT_S))
        except LabError:
            return ""  # that the tool is not there is told by its start
    return _known[key]
