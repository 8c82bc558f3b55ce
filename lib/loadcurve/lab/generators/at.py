"""Start a command at an instant: ``python -I -S at.py INSTANT_NS FILE COMMAND…``.

The laboratory writes this file into a run's folder.  Each of several generators is started with it, waits until one
common instant of the monotonic clock, notes how late it was, and becomes its command: the same process, so that
limits, signals and the end of the launcher reach it.  It imports nothing but the standard library's smallest parts.
"""

import os
import sys
import time


def main() -> None:
    """Wait, note the instant, become the command."""
    instant_ns, file, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    while (left_ns := instant_ns - time.monotonic_ns()) > 0:
        time.sleep(left_ns / 1e9)
    begun_ns = time.monotonic_ns()
    with open(file, "w") as out:  # noqa: PTH123 - pathlib takes longer to import than all of the rest
        out.write(f'{{"instant_ns": {instant_ns}, "begun_ns": {begun_ns}}}\n')
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
