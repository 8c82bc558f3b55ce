"""Work on many items: in this process, in worker processes, or on a Dask cluster.

A scheduler is named in one way everywhere: its address, such as ``tcp://10.0.0.1:8786``, or ``local`` for a cluster
that is started on this machine and ends with the work.  Workers of a cluster must run the same code of loadcurve, which
each task checks.
"""

import contextlib
import hashlib
import logging
import pickle
import signal
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from loadcurve.errors import LoadcurveError
from loadcurve.files.atomic import temporary_folder
from loadcurve.packages import __version__
from loadcurve.runtime.workers import in_order, processors

if TYPE_CHECKING:
    from distributed import Client

Item = TypeVar("Item")
Result = TypeVar("Result")

LOCAL = "local"
"""Name of a scheduler that is started on this machine.

Its workers import the main module again, so a script that uses it begins its work under ``if __name__ == "__main__":``.
"""

_NO_DASHBOARD = "127.0.0.1:0"  # with None, Dask opens port 8787 and others to all hosts
_NO_CERTIFICATE = (
    "Dask has no certificate: set DASK_DISTRIBUTED__COMM__TLS__CA_FILE, …__CLIENT__CERT and …__CLIENT__KEY to PEM files"
)
_CONNECT_S = 30.0  # Dask's own time limit for a connection
_AHEAD = 1000  # tasks that the scheduler knows of; each costs it about 1 ms


def map_items(
    function: Callable[[Item], Result], items: Iterable[Item], workers: int = 0, scheduler: str = ""
) -> Iterator[Result]:
    """Yield the result of each item, in order.

    Examples
    --------
    >>> list(map_items(abs, [-1, -2], workers=1))
    [1, 2]
    """
    if scheduler:
        with connected(scheduler, workers) as client:
            yield from in_order_on(client, function, items, _lost)
    elif workers == 1:
        yield from map(function, items)
    else:
        yield from in_order(function, items, workers or processors(), _lost)


def _lost(item: object, why: str) -> Any:
    raise LoadcurveError(f"a part of the work was lost: {why}")


@contextlib.contextmanager
def connected(scheduler: str, workers: int = 0) -> "Iterator[Client]":
    """Yield a client of a Dask scheduler, or raise where it does not respond.

    A local cluster has `workers` workers; 0 for one per processor.
    """
    import distributed  # takes 0.4 s

    with contextlib.ExitStack() as stack:
        if scheduler == LOCAL:
            folder = stack.enter_context(temporary_folder())
            stack.enter_context(distributed.dask.config.set({"temporary-directory": str(folder)}))
            scheduler = stack.enter_context(
                distributed.LocalCluster(
                    n_workers=workers or processors(),
                    threads_per_worker=1,
                    dashboard_address=_NO_DASHBOARD,
                    worker_dashboard_address=_NO_DASHBOARD,
                    # Whoever reaches a scheduler runs code as this user: other users of this machine get no connection.
                    security=distributed.security.Security.temporary(),
                    silence_logs=logging.CRITICAL,  # an interrupt, which is no fault, logs errors of several processes
                    preload=[__name__],
                )
            )
        made: Future[Client] = Future()

        def connect() -> None:
            try:
                made.set_result(distributed.Client(scheduler, timeout=_CONNECT_S))
            except Exception as error:
                made.set_exception(error)

        # In a thread, because Dask waits without limit where something listens that sends nothing.
        threading.Thread(target=connect, daemon=True).start()
        try:
            client = made.result(2 * _CONNECT_S)
        except Exception as error:
            no_certificate = isinstance(error, TypeError) and scheduler.startswith("tls:")
            reason = _NO_CERTIFICATE if no_certificate else _refusal(scheduler) or str(error).partition("\n")[0]
            raise LoadcurveError(
                f"scheduler must be local, or the address of a Dask scheduler such as tcp://10.0.0.1:8786, "
                f"got {scheduler!r} ({reason or 'no response'}); start one with `dask scheduler`"
            ) from None
        yield stack.enter_context(client)


def _refusal(scheduler: str) -> str:
    """Return why no connection to an address is established, which Dask, after many attempts, does not report."""
    with contextlib.suppress(ValueError):
        address = urlsplit(scheduler)
        try:
            if address.hostname:
                socket.create_connection((address.hostname, address.port or 8786), _CONNECT_S).close()
        except OSError as error:
            return f"{error.strerror or error}"
    return ""


def dask_setup(_: object) -> None:
    """Prepare a worker of a local cluster; Dask calls this in the worker's main thread.

    A terminal sends Ctrl-C to the workers too, but it is the command that ends them, and reports why work failed.
    """
    signal.signal(signal.SIGINT, lambda *_: None)  # unlike SIG_IGN, not inherited by kernels
    logging.getLogger().addHandler(logging.NullHandler())
    logging.getLogger("tornado").setLevel(logging.CRITICAL)  # callbacks of kernels that an interrupt ended


def in_order_on(
    client: "Client",
    function: Callable[[Item], Result],
    items: Iterable[Item],
    lost: Callable[[Item, str], Result],
) -> Iterator[Result]:
    """Yield the result of each item, in order, as `loadcurve.runtime.workers.in_order` does.

    Dask repeats the tasks of a lost worker on another one.  An item whose workers were lost four times is lost (Dask's
    setting ``distributed.scheduler.allowed-failures``).  A task may run twice, so `function` must write a file under a
    temporary name and rename it.
    """
    from distributed.scheduler import KilledWorker

    waiting: deque[tuple[Item, Any]] = deque()

    def first() -> Result:
        item, task = waiting.popleft()
        try:
            result: Result = task.result()
        except KilledWorker as error:
            return lost(item, str(error).splitlines()[0])
        return result

    try:
        for item in items:
            # As bytes, because Dask looks for tasks in tuples and lists.
            work = pickle.dumps((function, item), pickle.HIGHEST_PROTOCOL)
            waiting.append((item, client.submit(_call, library(), work, pure=False)))
            if len(waiting) >= _AHEAD:
                yield first()
        while waiting:
            yield first()
    finally:
        if waiting:
            client.cancel([task for _, task in waiting])


def _call(expected: str, work: bytes) -> Any:
    """Work on an item, on a worker."""
    check_library(expected)
    function, item = pickle.loads(work)
    return function(item)


def check_library(expected: str) -> None:
    """Raise unless this process runs the code of loadcurve that `library` returned elsewhere."""
    if library() != expected:
        raise LoadcurveError(
            f"workers must run loadcurve {expected}, as this process does, got {library()}: install the same version"
        )


@cache
def library() -> str:
    """Return the version of loadcurve and a digest of its code, which a checkout changes without a new version."""
    digest = hashlib.sha256()
    package = Path(__file__).parents[1]
    for path in sorted(package.rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode())
        digest.update(path.read_bytes())
    return f"{__version__}+{digest.hexdigest()[:12]}"
