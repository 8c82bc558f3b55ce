"""make is the graph: what would be done again if a file changed, asked of make itself (``make -n -W FILE``)."""

import os
import re
import shutil

import pytest
from makefile_tree import run, write_programs

OF_THE_STUDY = {
    "00_template", "10_run_study", "20_data_quality", "21_planted_faults", "30_throughput_by_connections", "40_usl_fit",
    "43_capacity_under_an_objective", "44_compare_two_servers",
}  # fmt: skip
OF_THE_WIRE = {"42_wire_and_packets", "46_keep_alive_and_ports", "50_nginx_10gbe", "55_reading_benchmarks"}
OF_CURVES = {"40_usl_fit", "45_published_curves", "47_scale_out_of_processors"}
OF_OTHER_STUDIES = {
    "31_response_time_by_rate", "33_search_beside_a_grid", "49_metrics_and_identities", "51_rt_qps_threads",
    "52_bottleneck_listeners", "53_scale_out_lvs", "54_lvs_acceptance",
}  # fmt: skip
OF_COUNTS = {"22_audit_error_rates", "48_interval_coverage"}
OF_NO_STUDY = {"01_your_own_files", "32_how_long_and_how_many", "41_queueing_network"} | OF_COUNTS
OF_INTERVALS = {"21_planted_faults", "44_compare_two_servers", "45_published_curves"} | OF_COUNTS
ALL = OF_THE_STUDY | OF_THE_WIRE | OF_CURVES | OF_OTHER_STUDIES | OF_NO_STUDY

pytestmark = pytest.mark.site


@pytest.fixture(scope="module")
def make(root):
    if not (root / "build" / "site" / "index.html").exists():
        pytest.fail("the handbook is not built: run make first (make test does)")
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    return lambda *argv: run(["make", *argv], cwd=root, env=env)


def test_nothing_is_left_to_do(make):
    assert make("-q").returncode == 0


@pytest.mark.parametrize(
    ("changed", "notebooks"),
    [
        ("data/studies/connections_on_loopback/runs.tar.xz", OF_THE_STUDY),
        ("data/published/nginx_10gbe/rates.csv", OF_THE_WIRE),
        ("data/published/lvs_acceptance/raw/round_robin.ipvsadm.txt", {"44_compare_two_servers", "54_lvs_acceptance"}),
        ("data/published/scaling_curves/curves.csv", OF_CURVES),
        ("notebooks/30_throughput_by_connections.ipynb", {"30_throughput_by_connections"}),
        ("handbook/index.md", set()),
        ("lib/loadcurve/designs/scale_out/study.yml", set()),
        ("lib/tests/data/folders/wrk_monitors/c64.wrk.txt", {"01_your_own_files", "21_planted_faults"}),
        ("mkdocs.yml", set()),
        ("lib/loadcurve/units.py", ALL),
        ("lib/loadcurve/lab/run/launch.py", {"10_run_study"}),
        ("lib/loadcurve/ingest/load/k6.py", {"21_planted_faults", "22_audit_error_rates"}),
        ("lib/loadcurve/site/macros.py", set()),
        ("lib/validation/coverage/count.py", OF_INTERVALS - {"21_planted_faults"}),
    ],
)
def test_a_changed_file_executes_the_notebooks_that_read_it_and_no_others(make, changed, notebooks):
    said = make("-n", "-W", changed, "build/tidy.stamp", "build/site/index.html").stdout
    assert set(re.findall(r"loadcurve run notebooks/(\w+)\.ipynb", said)) == notebooks
    assert "-m loadcurve.site" in said, "the site is built again"
    assert ("loadcurve tidy" in said) == (re.search("loadcurve/(units|lab|ingest)", changed) is not None)


def test_help_lists_every_public_target_and_the_readme_names_no_other(make, root):
    listed = {line.split()[0] for line in make("help").stdout.splitlines()}
    assert listed == set(re.findall(r"^\.PHONY: ([a-z-]+)", (root / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert {"site", "test", "lab-test", "lint", "serve", "lab", "clean", "help"} <= listed
    assert set(re.findall(r"(?:`|\$ )make ([a-z][a-z-]*)", (root / "README.md").read_text("utf-8"))) <= listed


@pytest.mark.parametrize("what", ["lab-tools", "lab-test", "browser"])
def test_the_state_of_the_system_is_one_line(root, what):
    done = run(["sh", "lib/loadcurve/lab/system.sh", "state", what], cwd=root, env={**os.environ, "SYSTEM": "no"})
    assert re.fullmatch(r"complete\n|SYSTEM=no missing: [a-z0-9. -]+\n", done.stdout), done


@pytest.mark.parametrize("argv", [[], ["install"], ["state", "all"], ["remove", "browser"]])
def test_the_systems_script_says_how_it_is_used(root, argv):
    done = run(["sh", "lib/loadcurve/lab/system.sh", *argv], cwd=root)
    assert done.returncode == 2
    assert done.stderr == "usage: lib/loadcurve/lab/system.sh state|install lab-tools|lab-test|browser\n"


# A package manager: `install` works once `update` did, and `update` works when nobody holds the lock any more.
APT = """
case "$1 $2" in
update*)
    [ -e "$HOLDER" ] && { echo "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 1"; exit 100; }
    touch "$UPDATED" ;;
install*)
    [ -e "$UPDATED" ] || { echo "E: Unable to locate package chromium"; exit 100; }
    echo "$@" >"$UPDATED" ;;
esac
"""


@pytest.fixture
def install_chromium(root, tmp_path, monkeypatch):
    """Runs system.sh where stubs stand for the programs that install, with what apt is asked in `updated`."""
    (programs := tmp_path / "bin").mkdir()
    for tool in ("cat", "dash", "env", "grep", "ldconfig", "mktemp", "chmod", "rm", "sh", "tail", "touch", "true"):
        if found := shutil.which(tool, path="/usr/bin:/bin:/usr/sbin:/sbin"):
            (programs / tool).symlink_to(found)
    script = (root / "lib/loadcurve/lab/system.sh").read_text("utf-8").replace('PATH="$PATH:/usr/sbin:/sbin"\n', "")
    (tmp_path / "system.sh").write_text(script)

    def install(uid, apt=APT, answer=None, **given):
        # Whoever holds the lock lets go of it while the script sleeps.
        stubs = {"sleep": 'rm -f "$HOLDER"', "sudo": 'shift\nexec "$@"', "id": f"echo {uid}", "apt-get": apt}
        write_programs(programs, {name: f"#!/bin/sh\n{text}\n" for name, text in stubs.items()})
        places = {"HOLDER": tmp_path / "holder", "UPDATED": tmp_path / "updated", "TMPDIR": tmp_path}
        env = {"PATH": str(programs)} | {name: str(path) for name, path in places.items()} | given
        return run(["sh", str(tmp_path / "system.sh"), "install", "browser"], answer, env=env)

    return install


@pytest.mark.parametrize("state", ["free", "locked", "offline"])
def test_another_package_manager_is_waited_for_and_a_failure_is_no_success(install_chromium, tmp_path, state):
    if state == "locked":
        (tmp_path / "holder").touch()
    done = install_chromium(0, APT.replace('touch "$UPDATED"', "exit 100") if state == "offline" else APT)
    if state == "offline":
        assert done.returncode == 1 and "make SYSTEM=no" in done.stderr, done
    else:
        assert (done.returncode, done.stderr, (tmp_path / "holder").exists()) == (0, "", False)
        asked = (tmp_path / "updated").read_text()
        assert "DPkg::Lock::Timeout=" in asked and "chromium" in asked


@pytest.mark.parametrize(
    ("given", "asked", "installed"),
    [
        ({"answer": "y\n"}, True, True),
        ({"answer": "n\n"}, True, False),
        ({"answer": "\x04"}, True, False),  # the end of input
        ({"answer": "", "SYSTEM": "yes"}, False, True),
        ({"answer": "", "SYSTEM": "no"}, False, False),
        ({"answer": "", "CI": "true"}, False, True),
        ({}, False, True),  # no terminal
    ],
)
def test_packages_are_named_first_and_a_person_at_a_terminal_is_asked(
    install_chromium, tmp_path, given, asked, installed
):
    done = install_chromium(1000, **given)
    said = done.stdout.partition("Installing")[0]
    assert done.returncode == 0 and "chromium" in said, done
    assert ("Install them with sudo apt-get?  [y/N]" in said) == asked
    assert (tmp_path / "updated").exists() == installed == ("Installing them with sudo apt-get" in done.stdout)


PIP = """#!/bin/sh
[ "$1" = -c ] && { echo "$PWD/packages"; exit; }
while [ $# -gt 1 ]; do [ "$1" = -r ] && cp "$2" "taken.$(basename "$2")"; shift; done
exit "$CODE"
"""


@pytest.mark.parametrize("code", [0, 1])
def test_each_locked_package_is_installed_by_one_of_several_pips(root, tmp_path, code):
    (tmp_path / "packages").mkdir()
    lock = root / "lib/requirements.lock"
    write_programs(tmp_path, {"python": PIP})
    argv = ["sh", root / "lib/install.sh", tmp_path / "python", lock]
    done = run(argv, cwd=tmp_path, env=os.environ | {"CODE": str(code)})
    taken = [line for part in tmp_path.glob("taken.*") for line in part.read_text().splitlines()]
    listed = lock.read_text().splitlines()
    listed = listed[next(n for n, line in enumerate(listed) if not line.startswith("#")) :]
    assert sorted(taken) == sorted(listed) if code == 0 else set(taken) <= set(listed)  # a failure ends the other pips
    assert (done.returncode, "were not installed; build/pip/" in done.stderr) == (code, bool(code)), done
