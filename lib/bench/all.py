"""Every figure that is promised, measured on this machine; nothing here is asserted in a test.

``python bench/all.py [CASE …]``: each case has its own process, so that its memory can be measured.  Every line
ends with the figure, what it was asked to be, and whether it is.
"""

import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import audit
import coverage
import ingestion
import launcher
import models
import monitors
from process_tree import machine

CASES = audit.CASES | ingestion.CASES | models.CASES | monitors.CASES | launcher.CASES | coverage.CASES


def main() -> None:
    """Run the cases that the command line names, or all, each in a process of its own."""
    if sys.argv[1:2] == ["--here"]:
        with tempfile.TemporaryDirectory(prefix="loadcurve-bench-") as place:
            CASES[sys.argv[2]](Path(place))
        return
    if unknown := [name for name in sys.argv[1:] if name not in CASES]:
        sys.exit(f"CASES must be of {', '.join(CASES)}, got {unknown[0]!r}")
    here = f"{platform.system()} {platform.release()}, {machine()}, Python {platform.python_version()}"
    print(f"{here}; one core for each figure", flush=True)
    for name in sys.argv[1:] or CASES:
        subprocess.run([sys.executable, __file__, "--here", name], check=False)


if __name__ == "__main__":
    main()
