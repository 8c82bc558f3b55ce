import pytest

from loadcurve.errors import LabError
from loadcurve.lab import launch
from loadcurve.lab.guard import check_target
from loadcurve.study import Study


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/", "http://127.8.9.10:81/x", "http://[::1]:8080/", "http://localhost/"]
)
def test_loopback_may_be_loaded(url):
    assert check_target(url) == url


@pytest.mark.parametrize("host", ["192.0.2.10", "10.0.0.5", "172.16.0.1", "[2001:db8::1]", "0.0.0.0"])
def test_anything_else_is_refused_and_the_way_out_is_named(host):
    with pytest.raises(LabError, match="target must be loopback, got .*allow_targets in study.yml"):
        check_target(f"http://{host}:8080/")


def test_a_named_host_may_be_loaded_and_only_that_one():
    assert check_target("http://192.0.2.10/", ("192.0.2.10",))
    with pytest.raises(LabError):
        check_target("http://192.0.2.11/", ("192.0.2.10",))


@pytest.mark.parametrize("url", ["192.0.2.10", "http://", "/index.html"])
def test_a_target_without_host_is_refused(url):
    with pytest.raises(LabError, match="target must be a URL with a host"):
        check_target(url)


def test_a_name_that_does_not_resolve_is_refused():
    with pytest.raises(LabError, match="must be a host that resolves"):
        check_target("http://no-such-host.invalid/")


@pytest.mark.real
def test_launch_refuses_before_anything_is_started(tmp_path):
    study = Study("s", "?", {"far": "http://192.0.2.10/"}, (1,), repeats=1, seconds=1)
    with pytest.raises(LabError, match="target must be loopback, got 192.0.2.10"):
        launch(study, tmp_path / "s")
    assert not (tmp_path / "s").exists()
