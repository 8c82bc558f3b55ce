"""make is the graph: what would be done again if a file changed, asked of make itself (``make -n -W FILE``)."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

RUN = "data/studies/connections_on_loopback/cpu-c0008-r1"
OF_THE_STUDY = {
    "00_template", "10_run_study", "20_data_quality", "21_planted_faults", "30_throughput_by_connections", "40_usl_fit",
    "43_capacity_under_an_objective", "44_compare_two_servers",
}  # fmt: skip
OF_THE_WIRE = {"42_wire_and_packets", "46_keep_alive_and_ports", "50_nginx_10gbe", "55_reading_benchmarks"}
OF_CURVES = {"40_usl_fit", "45_published_curves", "47_scale_out_of_processors"}
OF_OTHER_STUDIES = {
    "31_response_time_by_rate", "49_metrics_and_identities", "51_rt_qps_threads",
    "52_bottleneck_listeners", "53_scale_out_lvs", "54_lvs_acceptance",
}  # fmt: skip
OF_COUNTS = {"22_audit_error_rates", "48_interval_coverage"}
OF_NO_STUDY = {"01_your_own_files", "41_queueing_network"} | OF_COUNTS
OF_INTERVALS = {"21_planted_faults", "44_compare_two_servers", "45_published_curves"} | OF_COUNTS
ALL = OF_THE_STUDY | OF_THE_WIRE | OF_CURVES | OF_OTHER_STUDIES | OF_NO_STUDY

pytestmark = pytest.mark.site


@pytest.fixture(scope="module")
def make(root):
    if not (root / "build" / "site" / "index.html").exists():
        pytest.fail("the handbook is not built: run make first (make test does)")
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}

    def ask(*argv):
        done = subprocess.run(["make", *argv], cwd=root, env=env, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    return ask


def would_do(make, changed):
    _, said = make("-n", "-W", changed, "build/tidy.stamp", "build/site/index.html")
    executed = set(re.findall(r"loadcurve run notebooks/(\w+)\.ipynb", said))
    return executed, "-m loadcurve.site" in said, "loadcurve tidy" in said


def test_nothing_is_left_to_do(make):
    code, said = make("-q")
    assert code == 0, said


@pytest.mark.parametrize(
    ("changed", "notebooks"),
    [
        (f"{RUN}/local.sar.txt", {"20_data_quality", "21_planted_faults", "43_capacity_under_an_objective"}),
        (f"{RUN}/local.ss.connections.txt", {"20_data_quality", "21_planted_faults"}),
        (f"{RUN}/local.wrk.txt", OF_THE_STUDY),
        ("data/published/nginx_10gbe/rates.csv", OF_THE_WIRE),
        ("data/published/lvs_acceptance/raw/round_robin.ipvsadm.txt", {"44_compare_two_servers", "54_lvs_acceptance"}),
        ("data/published/scaling_curves/curves.csv", OF_CURVES),
        ("notebooks/30_throughput_by_connections.ipynb", {"30_throughput_by_connections"}),
        ("handbook/index.md", set()),
        ("lib/loadcurve/designs/scale_out/study.yml", set()),
        ("lib/tests/data/folders/wrk_monitors/c64.wrk.txt", {"01_your_own_files", "21_planted_faults"}),
        ("mkdocs.yml", set()),
        ("lib/loadcurve/units.py", ALL),
        ("lib/loadcurve/site/macros.py", set()),
        ("lib/validation/coverage/count.py", OF_INTERVALS),
    ],
)
def test_a_changed_file_executes_the_notebooks_that_read_it_and_no_others(make, changed, notebooks):
    executed, built, ingested = would_do(make, changed)
    assert executed == notebooks
    assert built, "the site is built again"
    assert ingested == ("loadcurve/units" in changed)


def test_help_lists_every_public_target(make, root):
    _, said = make("help")
    listed = {line.split()[0] for line in said.splitlines()}
    phony = set(re.findall(r"^\.PHONY: ([\w-]+)", (root / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert listed == phony
    assert {"site", "test", "lab-test", "lint", "serve", "lab", "clean", "help"} <= listed


def test_the_readme_names_targets_that_exist(root):
    named = set(re.findall(r"(?:`|\$ )make ([a-z-]+)\b", (root / "README.md").read_text("utf-8")))
    assert named <= set(re.findall(r"^([a-z-]+):", (root / "Makefile").read_text("utf-8"), re.MULTILINE))


@pytest.mark.parametrize("what", ["lab-tools", "lab-test", "browser"])
def test_the_state_of_the_system_is_one_line(root, what):
    argv = ["sh", "lib/system.sh", "state", what]
    done = subprocess.run(
        argv, cwd=root, env={**os.environ, "SYSTEM": "no"}, capture_output=True, text=True, check=True
    )
    assert re.fullmatch(r"complete\n|SYSTEM=no missing: [a-z0-9. -]+\n", done.stdout)


@pytest.mark.parametrize("argv", [[], ["install"], ["state", "all"], ["remove", "browser"]])
def test_the_systems_script_says_how_it_is_used(root, argv):
    done = subprocess.run(["sh", "lib/system.sh", *argv], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "usage: lib/system.sh state|install lab-tools|lab-test|browser\n"


# A package manager: `install` works once `update` did, and `update` works when nobody holds the lock any more.
APT = """#!/bin/sh
case "$1 $2" in
update*)
    [ -e "$HOLDER" ] && { echo "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 1"; exit 100; }
    touch "$UPDATED" ;;
install*)
    [ -e "$UPDATED" ] || { echo "E: Unable to locate package chromium"; exit 100; }
    echo "$@" >"$UPDATED" ;;
esac
"""


@pytest.mark.parametrize("state", ["free", "locked", "offline"])
def test_another_package_manager_is_waited_for_and_a_failure_is_no_success(root, tmp_path, state):
    (programs := tmp_path / "bin").mkdir()
    holder, updated = tmp_path / "holder", tmp_path / "updated"
    apt = APT.replace('touch "$UPDATED"', "exit 100") if state == "offline" else APT
    # Whoever holds the lock lets go of it while the script sleeps.
    for name, text in {"apt-get": apt, "sleep": '#!/bin/sh\nrm -f "$HOLDER"\n', "id": "#!/bin/sh\necho 0\n"}.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    for tool in ("cat", "dash", "env", "grep", "ldconfig", "mktemp", "chmod", "rm", "sh", "tail", "touch"):
        if found := shutil.which(tool, path="/usr/bin:/bin:/usr/sbin:/sbin"):
            (programs / tool).symlink_to(found)
    if state == "locked":
        holder.touch()
    script = (root / "lib" / "system.sh").read_text("utf-8").replace('PATH="$PATH:/usr/sbin:/sbin"\n', "")
    (tmp_path / "system.sh").write_text(script)
    env = {"PATH": str(programs), "HOLDER": str(holder), "UPDATED": str(updated), "TMPDIR": str(tmp_path)}
    argv = ["sh", str(tmp_path / "system.sh"), "install", "browser"]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
    if state == "offline":
        assert done.returncode == 1 and "make SYSTEM=no" in done.stderr, done
    else:
        assert (done.returncode, done.stderr, holder.exists()) == (0, "", False)
        assert "DPkg::Lock::Timeout=" in updated.read_text() and "chromium" in updated.read_text()


PIP = """#!/bin/sh
[ "$1" = -c ] && { echo "$PWD/packages"; exit; }
while [ $# -gt 1 ]; do [ "$1" = -r ] && cp "$2" "taken.$(basename "$2")"; shift; done
exit "$CODE"
"""


@pytest.mark.parametrize("code", [0, 1])
def test_each_locked_package_is_installed_by_one_of_several_pips(root, tmp_path, code):
    (tmp_path / "lib").mkdir()
    (tmp_path / "packages").mkdir()
    lock = Path(shutil.copy(root / "lib/requirements.lock", tmp_path / "lib"))
    (python := tmp_path / "python").write_text(PIP)
    python.chmod(0o755)
    argv = ["sh", str(root / "lib/install.sh"), str(python)]
    env = os.environ | {"CODE": str(code)}
    done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    taken = [line for part in tmp_path.glob("taken.*") for line in part.read_text().splitlines()]
    listed = lock.read_text().splitlines()
    assert sorted(taken) == sorted(listed[next(n for n, line in enumerate(listed) if not line.startswith("#")) :])
    assert done.returncode == code, done
    assert ("were not installed; build/pip/" in done.stderr) == bool(code)
