import pytest
from private_services import ask, free_endpoint, listeners, need, running

from loadcurve.errors import ValueRuleError
from loadcurve.lab.servers import HaproxyProcess, HaproxySection, Text, haproxy_service


@pytest.mark.lab
def test_haproxy_answers_by_itself(tmp_path):
    need("haproxy", "curl")
    here = free_endpoint()
    with running(tmp_path, haproxy_service("S1", here, HaproxySection(Text(3000), HaproxyProcess(threads=2)))):
        answer = ask(here.url)
    assert (answer.status, answer.headers["content-length"], len(answer.body)) == (200, "3000", 3000)
    assert answer.headers["content-type"] == "text/plain"
    assert listeners(here) == []
    assert sorted(p.name for p in tmp_path.iterdir()) == ["S1.cfg", "S1.out"]


@pytest.mark.parametrize("name", ["S1\nglobal", "a b", "-f", "../S1"])
def test_a_name_cannot_begin_a_section(name):
    with pytest.raises(ValueRuleError, match="name must be"):
        haproxy_service(name, free_endpoint(), HaproxySection())


def test_threads_and_connections_are_counts():
    with pytest.raises(ValueRuleError, match="threads must be a whole number of 1 to 64, got 0"):
        HaproxyProcess(threads=0)
    with pytest.raises(ValueRuleError, match="connections must be a whole number"):
        HaproxyProcess(connections="1\n    chroot /")
