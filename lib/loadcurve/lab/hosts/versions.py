"""Determine the versions of a run's tools on their hosts."""

from loadcurve.errors import LabError
from loadcurve.lab.hosts.executor import Executor
from loadcurve.lab.hosts.tools import Tool, version, version_in

# Tools print their version to either stream, and some exit with an error code.
_ASK = (
    "import subprocess, sys; done = subprocess.run(sys.argv[1:], capture_output=True, timeout=10); "
    "sys.stdout.buffer.write(done.stdout + done.stderr)"
)
_LIMIT_S = 15.0
# Versions on remote hosts by URL, tool and program, determined once per launch.
_known: dict[tuple[str, str, str], str] = {}


def version_at(executor: Executor, tool: Tool, program: str = "") -> str:
    """Return the version that a tool prints on a host, as `tools.version` does on this machine."""
    own = "" if program == tool.name else program
    if executor.is_here:
        return version(tool, own)
    if not tool.version_option:
        return ""
    key = (executor.url, tool.name, own)
    if key not in _known:
        argv = ("python3", "-I", "-S", "-c", _ASK, own or tool.name, tool.version_option)
        try:
            _known[key] = version_in(executor.check_output(argv, _LIMIT_S))
        except LabError:
            return ""  # starting the tool reports that it is missing
    return _known[key]
