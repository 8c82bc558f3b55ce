"""Start a command at an instant: ``python -I -S at.py INSTANT_NS FILE COMMAND…``.

The laboratory writes this file into a run's folder.  It starts each of several
generators: it waits until a common instant of the monotonic clock, writes when it really started, and becomes the
command in the same process, so that limits, signals and the end of the launcher reach it.  It imports only small
parts of the standard library.
"""

import os
import sys
import time


def main() -> None:
    """Wait, write the instant, become the command."""
    instant_ns, file, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    while (left_ns := instant_ns - time.monotonic_ns()) > 0:
        time.sleep(left_ns / 1e9)
    begun_ns = time.monotonic_ns()
    with open(file, "w") as out:  # noqa: PTH123 - pathlib takes longer to import than all of the rest
        out.write(f'{{"instant_ns": {instant_ns}, "begun_ns": {begun_ns}}}\n')
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
