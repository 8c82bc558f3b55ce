"""Become a command within a control group: ``python -I -S enter.py GROUP FILE=VALUE… -- COMMAND…``.

The laboratory writes this file into a run's folder and creates the group.  Settings that the group already has are not
written again, because that would start a new period for its other commands.  The process stays the same, so that
limits, signals and the end of the launcher reach the command.
"""

import os
import sys


def settle(group: str, settings: list[str]) -> None:
    """Write settings, each as ``FILE=VALUE``, into a group."""
    for file, _, value in (setting.partition("=") for setting in settings):
        with open(f"{group}/{file}", "r+") as now:  # noqa: PTH123 - pathlib takes longer to import than all of the rest
            if now.read().strip() != value:
                now.seek(0)
                now.write(value)


def main() -> None:
    """Apply the settings, enter the group, become the command."""
    end = sys.argv.index("--")
    group, settings, command = sys.argv[1], sys.argv[2:end], sys.argv[end + 1 :]
    if not os.path.isdir(group):  # noqa: PTH112 - as above
        sys.exit(f"no control group {group}: it goes with its run; by hand, `mkdir {group}` and later `rmdir {group}`")
    try:
        settle(group, settings)
        with open(f"{group}/cgroup.procs", "w") as processes:  # noqa: PTH123 - as above
            processes.write("0")  # the process that writes, see cgroup_attach_task of kernel/cgroup
    except OSError as error:
        sys.exit(f"{error.filename or group}: {error.strerror}")
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
