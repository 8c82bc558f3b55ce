"""Call a function on many items in worker processes, with the results in the order of the items.

`concurrent.futures.ProcessPoolExecutor` does not fit here.  Its processes import the caller's main module again, so a
script that reads a folder would run once in each of them; and when the system kills one of them, it does not say which
item was the reason.  Here, each worker is a Python process that imports only this package and reads items from a pipe.
It ends with the pipe, also at work, so also when this process is killed.

The threads that talk to the workers are daemons, and `ThreadPoolExecutor` is not used: at its end, the interpreter
would wait for all items that were submitted, also where an exception left the results behind.
"""

import atexit
import json
import os
import pickle
import select
import signal
import subprocess
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, BinaryIO, TypeVar

from loadcurve.runtime.output import echo_messages

Item = TypeVar("Item")
Result = TypeVar("Result")

_CODE = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from loadcurve.runtime.workers import serve; serve()"
_READY = b"loadcurve"


_serving = False  # in a worker


class WorkerLost(Exception):
    """A worker ended before it returned a result; the message is the reason."""


def is_worker() -> bool:
    """Return whether this process is a worker, which starts no workers and shows no progress."""
    return _serving


def processors() -> int:
    """Return the number of processors that this process may use; 1 in a worker."""
    if _serving:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    workers: int,
    lost: Callable[[Item, str], Result],
    size: Callable[[Item], float] = lambda item: 0.0,
    max_size: float = 1.0,
    ahead: int = 0,
) -> Iterator[Result]:
    """Yield the result of each item, in order."""
    pool = _Pool(function)
    waiting: deque[tuple[Item, Future[Result]]] = deque()

    def is_full(item: Item) -> bool:
        """Whether an item has to wait; results need far less memory than the work on them."""
        unfinished = (size(held) for held, result in waiting if not result.done())
        at_once = sorted((size(item), *unfinished), reverse=True)[:workers]
        return len(waiting) >= (ahead or 2 * workers) or max(size(item), sum(at_once)) > max_size

    def first() -> Result:
        item, result = waiting.popleft()
        try:
            return result.result()
        except WorkerLost as error:
            return lost(item, str(error))

    tasks: SimpleQueue[tuple[Item, Future[Result]] | None] = SimpleQueue()
    for _ in range(workers):
        threading.Thread(target=_work, args=(pool.call, tasks), name="loadcurve-worker", daemon=True).start()
    atexit.register(pool.end)  # where an exception that nobody handles leaves this generator suspended
    try:
        for item in items:
            while waiting and is_full(item):
                yield first()
            waiting.append((item, Future()))
            tasks.put(waiting[-1])
        while waiting:
            yield first()
    finally:
        for _, result in waiting:
            result.cancel()
        pool.end()
        atexit.unregister(pool.end)
        for _ in range(workers):
            tasks.put(None)


def _work(call: Callable[[Any], Any], tasks: "SimpleQueue[tuple[Any, Future[Any]] | None]") -> None:
    """Set the result of each task until there is None."""
    while (task := tasks.get()) is not None:
        item, result = task
        if not result.set_running_or_notify_cancel():
            continue
        try:
            result.set_result(call(item))
        except BaseException as error:
            result.set_exception(error)


class _Pool:
    """Workers, one for each thread that calls `call`; a worker that ended is replaced at the next call."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function
        self._of_thread = threading.local()
        self._lock = threading.Lock()
        self._started: list[subprocess.Popen[bytes]] = []
        self._ended = False

    def call(self, item: Any) -> Any:
        """Return the result of one item from the worker of this thread."""
        worker = self._worker()
        if worker is None:
            if self._ended:  # nobody asks for this result
                raise WorkerLost("the caller stopped")
            return self._function(item)
        stdin, stdout = worker.stdin, worker.stdout
        assert stdin is not None and stdout is not None
        try:
            pickle.dump(item, stdin, pickle.HIGHEST_PROTOCOL)
            stdin.flush()
            result, error = pickle.load(stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            self._of_thread.worker = None
            raise WorkerLost(_why(worker)) from None
        if error is not None:
            raise error
        return result

    def _worker(self) -> subprocess.Popen[bytes] | None:
        """Return the worker of this thread; None where no process can be started, so the work is done here."""
        if getattr(self._of_thread, "worker", None) is None:
            try:
                worker = self._start()
                assert worker.stdin is not None and worker.stdout is not None
                pickle.dump(self._function, worker.stdin, pickle.HIGHEST_PROTOCOL)
                worker.stdin.flush()
                if worker.stdout.read(len(_READY)) != _READY:
                    return None
            except OSError:
                return None
            self._of_thread.worker = worker
        found: subprocess.Popen[bytes] = self._of_thread.worker
        return found

    def _start(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._ended:
                raise OSError("the workers have ended")
            # In a process group of its own, a worker does not get the terminal's Ctrl-C; the caller ends it.
            worker = subprocess.Popen(
                [sys.executable, "-c", _CODE, json.dumps(sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                process_group=0,
            )
            self._started.append(worker)
        return worker

    def end(self) -> None:
        """End all workers, also those at work."""
        if self._ended:  # at the end of the interpreter, which stops threads wherever they are, also with the lock
            return
        with self._lock:
            self._ended = True
            for worker in self._started:
                worker.kill()
                worker.wait()


def _why(worker: subprocess.Popen[bytes]) -> str:
    code = worker.wait()
    if code >= 0:
        return f"the process that read it ended with code {code}"
    reason = "; the system may have run out of memory" if -code == signal.SIGKILL else ""
    return f"the process that read it was killed by {signal.Signals(-code).name}{reason}"


def serve() -> None:
    """Work as a worker: read a function and items from standard input, and write results to standard output."""
    global _serving
    _serving = True
    echo_messages()
    threading.Thread(target=_end_with_caller, daemon=True).start()
    items, results = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not reach the results
    try:
        _answer(items, results)
    except (BrokenPipeError, EOFError, pickle.UnpicklingError):  # the caller has ended, as `_end_with_caller` finds too
        os._exit(1)


def _answer(items: BinaryIO, results: BinaryIO) -> None:
    function = pickle.load(items)
    results.write(_READY)
    results.flush()
    while True:
        item = pickle.load(items)
        try:
            answer: tuple[Any, Exception | None] = function(item), None
        except Exception as error:
            error.add_note(traceback.format_exc())  # an exception travels without its traceback
            answer = None, error
        pickle.dump(answer, results, pickle.HIGHEST_PROTOCOL)
        results.flush()


def _end_with_caller() -> None:
    """End this worker when the caller has ended; an item of minutes would go on beside the caller's next command."""
    pipe = select.poll()
    pipe.register(0, 0)  # a hang-up is always reported; nobody but the caller holds the other end
    pipe.poll()
    os._exit(1)
