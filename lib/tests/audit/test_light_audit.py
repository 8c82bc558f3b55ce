"""A file is audited without the packages whose import takes longer than the audit."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "dask", "hypothesis", "matplotlib", "nbformat", "papermill", "pyarrow.parquet", "ruamel.yaml",
    "scipy.integrate", "scipy.linalg", "scipy.optimize", "scipy.special", "scipy.stats", "seaborn", "statsmodels",
}  # fmt: skip
REPORT = Path(__file__).parents[1] / "data/folders/wrk_only/c64.txt"
CODE = """
import sys, loadcurve.cli
sys.argv = ["loadcurve", "audit", sys.argv[1]]
try:
    loadcurve.cli.main()
finally:
    print(*sys.modules, file=sys.stderr)
"""


@pytest.mark.slow
def test_a_file_is_audited_without_heavy_packages(tmp_path):
    command = [sys.executable, "-c", CODE, str(REPORT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, cwd=tmp_path)
    assert done.stdout.startswith(f"{REPORT}: usable with care: shared-machine\n")
    assert not HEAVY.intersection(done.stderr.split())
