"""Limits as data: what is refused, where a control group would be made, what is written into it."""

import math
import sys
from pathlib import Path

import pytest

from loadcurve.errors import LabError, ValueRuleError
from loadcurve.lab.hosts import limits
from loadcurve.lab.hosts.limits import Controller, Limits, Prefix, limited, mounted_controller, throttling, why_not
from loadcurve.lab.hosts.network import Ledger

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the laboratory needs Linux")

# Lines of /proc/self/mountinfo (proc(5)): field 4 is the root of what is mounted, field 5 where.
V1 = "33 31 0:29 {root} {at}/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
V2 = "41 31 0:38 {root} {at} rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"


def group(folder: Path, *, hands_out="", quota=False) -> Path:
    """What the kernel shows of a group."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cgroup.procs").write_text("")
    (folder / "cgroup.subtree_control").write_text(hands_out + "\n")
    if quota:
        (folder / "cpu.cfs_quota_us").write_text("-1\n")
    return folder


@pytest.mark.parametrize(
    ("name", "rule", "values"),
    [
        (
            "open_files", "a whole number of 16 to 1073741824",
            (15, 0, -1, 2**30 + 1, 64.0, True, "64", "64:64", math.inf),
        ),
        ("cpu_quota", "a number of 0.01 to 1024", (0, 0.001, -0.5, 1025, math.nan, math.inf, True, "0.5", "max")),
    ],
)  # fmt: skip
def test_a_limit_out_of_its_rule_is_refused(name, rule, values):
    for value in values:
        with pytest.raises(ValueRuleError, match=f"{name} must be {rule}"):
            Limits(**{name: value})


@pytest.mark.parametrize(
    "name", ["", "-S1", "S1/..", "../S1", "S 1", "S1;x", "S1\n", "1S", "S.1", "a" * 33, None, "S1=2", "$(id)"]
)
def test_a_name_that_could_lead_elsewhere_is_refused(tmp_path, name):
    with Ledger(tmp_path) as ledger, pytest.raises(ValueRuleError), limited(Limits(cpu_quota=1), ledger, name):
        pass


def test_no_limits_need_nothing(tmp_path):
    with Ledger(tmp_path) as ledger, limited(Limits(), ledger, "S1") as prefix:
        assert prefix == Prefix((), {}, "")
        assert throttling(prefix) == {}
    assert why_not(Limits()) == ""


def test_version_1_is_below_the_own_group(tmp_path):
    own = group(tmp_path / "cpu,cpuacct/user/shell", quota=True)
    mounts = V1.format(root="/", at=tmp_path) + V2.format(root="/", at=tmp_path / "unified")
    found = mounted_controller(mounts, "4:cpu,cpuacct:/user/shell\n3:cpuset:/\n0::/\n", tmp_path)
    assert found == Controller(1, own)


def test_version_1_of_a_container_is_what_is_mounted(tmp_path):
    mounted = group(tmp_path / "cpu,cpuacct", quota=True)
    for own in ("/docker/9f", "/docker/9f/", "/elsewhere", "/../other", "/docker/9f/../.."):
        found = mounted_controller(V1.format(root="/docker/9f", at=tmp_path), f"4:cpu,cpuacct:{own}\n", tmp_path)
        assert found == Controller(1, mounted), own


def test_version_2_is_below_the_nearest_group_that_hands_the_controller_out(tmp_path):
    group(tmp_path, hands_out="cpuset cpu io")
    nearest = group(tmp_path / "user.slice", hands_out="cpu memory")
    group(tmp_path / "user.slice/user-0.slice", hands_out="cpuset memory")
    group(tmp_path / "user.slice/user-0.slice/session-1.scope")
    found = mounted_controller(
        V2.format(root="/", at=tmp_path), "0::/user.slice/user-0.slice/session-1.scope\n", tmp_path
    )
    assert found == Controller(2, nearest)


def test_nowhere_where_nobody_hands_it_out_or_it_is_mounted_elsewhere(tmp_path):
    group(tmp_path / "here", hands_out="cpuset memory")
    assert mounted_controller(V2.format(root="/", at=tmp_path / "here"), "0::/\n", tmp_path) is None
    group(tmp_path / "here", hands_out="cpu")
    assert mounted_controller(V2.format(root="/", at=tmp_path / "here"), "0::/\n", tmp_path) is not None
    assert mounted_controller(V2.format(root="/", at=tmp_path / "here"), "0::/\n", tmp_path / "other") is None
    assert mounted_controller("23 1 0:22 / /sys rw - sysfs sysfs rw\n", "0::/\n", tmp_path) is None


def test_the_reason_is_one_line(monkeypatch, tmp_path):
    monkeypatch.setattr(limits, "mounted_controller", lambda: None)
    monkeypatch.setattr(limits, "_may_raise", lambda: False)
    monkeypatch.setattr(limits.resource, "getrlimit", lambda which: (100, 1000))
    for asked in (Limits(open_files=1001, cpu_quota=1), Limits(open_files=1000, cpu_quota=1)):
        with Ledger(tmp_path) as ledger, pytest.raises(LabError) as refused, limited(asked, ledger, "S1"):
            pass
        assert str(refused.value) == why_not(asked)
        assert "\n" not in why_not(asked)
    assert why_not(Limits(open_files=1001)) == "no process may have 1001 open files here, but 1000"
    assert why_not(Limits(cpu_quota=1)) == "no cgroup with a cpu controller is writable here"
    assert why_not(Limits(open_files=1000)) == ""
    monkeypatch.setattr(limits, "which", lambda tool: None)
    assert why_not(Limits(open_files=64)) == "prlimit is not installed (apt-get install util-linux)"
