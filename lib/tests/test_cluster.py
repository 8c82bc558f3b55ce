"""Work on Dask clusters: the same results as here, and folders that are read while a worker is killed."""

import psutil
import pytest

from loadcurve.runtime.cluster import connected, map_items

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("options", [{"workers": 1}, {"workers": 2}, {"workers": 2, "scheduler": "local"}], ids=str)
def test_items_are_mapped_alike_here_in_processes_and_on_dask(options):
    items = ["1 + 1", "(1, 2)", "[abs, -3]"]
    assert list(map_items(eval, items, **options)) == [2, (1, 2), [abs, -3]]
    with pytest.raises(ZeroDivisionError):
        list(map_items(eval, ["1 / 0"], **options))


def test_a_cluster_on_this_machine_listens_on_loopback_only():
    before = {one.pid for one in psutil.Process().children()}
    with connected("local", 1):
        own = [psutil.Process(), *(one for one in psutil.Process().children(recursive=True) if one.pid not in before)]
        listens = {at.laddr.ip for one in own for at in one.net_connections() if at.status == psutil.CONN_LISTEN}
    assert listens == {"127.0.0.1"}
