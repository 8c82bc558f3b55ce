"""Functional tests of balancers in namespaces of their own: a good balancer passes, each planted defect fails."""

import os
import subprocess

import pytest
from private_services import need

from loadcurve.acceptance import judge_functions
from loadcurve.lab.hosts.process import guarded
from loadcurve.lab.tools.balancers.functions import FunctionsSection, function_test, missing


def verdicts(folder, balancer, checks, defect=("", "", "")):
    """Verdict on each check whose function was tested, with a text of one file replaced."""
    need("unshare", "ip", "nginx", "curl")
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    test = function_test(FunctionsSection(balancer, checks))
    if lacking := [obstacle for obstacle, _ in missing(test)]:
        pytest.skip("; ".join(lacking))
    name, good, bad = defect
    assert not name or good in test.files[name], "the defect is planted in a text that is there"
    for file, text in test.files.items():
        (folder / file).write_text(text.replace(good, bad) if file == name else text)
    (folder / "functions.sh").chmod(0o755)
    with (folder / "console.txt").open("wb") as console:
        argv = guarded(test.argv(), test.limit_s)
        subprocess.run(argv, cwd=folder, stdin=subprocess.DEVNULL, stdout=console, stderr=console, check=False)
    assert (folder / "end.txt").exists(), (folder / "errors.txt").read_text()
    found = judge_functions(folder, balancer).set_index("check")
    return found["verdict"].to_dict(), found["numbers"].to_dict()


MASQUERADE = "ip saddr 10.99.64.0/24 masquerade\n"
IMPORT = 'import_rules() { in_host LB1 nft -f "$1"; }'
LOSING_IMPORT = 'import_rules() { grep -v 10.99.64.13 "$1" | in_host LB1 nft -f -; }'
TURNS, UNFAIR_TURNS = "mod 3 vmap { 0 : goto s1,", "mod 4 vmap { 3 : goto s1, 0 : goto s1,"
DEFECTS = {
    "a balancer that loses the client address": (
        "client_address", "client_address",
        ("balancer.sh", MASQUERADE, f'{MASQUERADE}oifname "back" masquerade\n'), "10.99.64.25",
    ),
    "an unfair scheduler": ("round_robin", "round_robin", ("rr.rules", TURNS, UNFAIR_TURNS), "not round robin alone"),
    "a hash that does not depend on the address": (
        "hash", "hash_of_address", ("hash.rules", "jhash ip saddr mod 3 seed 0x1", "numgen inc mod 3"),
        "sent to more than one server",
    ),
    "rules lost on import": (
        "export_import", "export_import", ("balancer.sh", IMPORT, LOSING_IMPORT), "1 lines are missing",
    ),
    "no way outside": ("outside", "servers_reach_outside", ("balancer.sh", "masquerade", "accept"), "0 of 1"),
    "a service lost of ten thousand": (
        "ten_thousand", "ten_thousand_services", ("balancer.sh", "10000 19999", "10000 19998"), "9,999 services",
    ),
}  # fmt: skip


@pytest.mark.real
@pytest.mark.parametrize(("check", "fails", "defect", "shows"), DEFECTS.values(), ids=DEFECTS)
def test_a_planted_defect_fails_its_check(tmp_path, check, fails, defect, shows):
    found, numbers = verdicts(tmp_path, "nft", (check,), defect)
    assert found[fails] == "fail" and shows in numbers[fails]


@pytest.mark.real
def test_nft_passes_what_is_loaded_once(tmp_path):
    checks = ("client_address", "outside", "round_robin", "hash", "ten_thousand", "export_import")
    found, numbers = verdicts(tmp_path, "nft", checks)
    passed = {name for name, verdict in found.items() if verdict == "pass"}
    expected = {"client_address", "servers_reach_outside", "round_robin", "hash_of_address", "ten_thousand_services"}
    assert passed == {*expected, "export_import"}, numbers


@pytest.mark.lab
def test_haproxy_takes_out_a_dead_server_and_nft_does_not(tmp_path):
    for balancer, expected in {"haproxy": "pass", "nft": "fail"}.items():
        (tmp_path / balancer).mkdir()
        found, numbers = verdicts(tmp_path / balancer, balancer, ("dead_server",))
        assert found["dead_server_taken_out"] == expected, numbers


@pytest.mark.lab
@pytest.mark.parametrize(("balancer", "survives"), [("nft", "pass"), ("haproxy", "fail"), ("ipvs", "pass")])
def test_a_connection_survives_where_its_state_is_copied(tmp_path, balancer, survives):
    found, numbers = verdicts(tmp_path, balancer, ("fail_over",))
    assert (found["connection_survives"], found["fail_over"]) == (survives, "pass"), numbers
    assert found["state_copied"] == ("not checked" if balancer == "haproxy" else "pass"), numbers
