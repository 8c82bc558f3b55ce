"""A real IPython kernel for tests of notebooks: cells are executed one by one, and can be interrupted."""

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.manager import KernelManager

HANG_S = 240
"""After this time, a test fails because something hangs."""


def write_notebook(path: Path, parameters: str, *codes: str) -> Path:
    """Write a notebook with a cell of parameters and further cells of code."""
    python = {"name": "python3", "language": "python", "display_name": "Python 3"}
    cells = [nbformat.v4.new_code_cell(code) for code in (parameters, *codes)]
    cells[0].metadata["tags"] = ["parameters"]
    nbformat.write(nbformat.v4.new_notebook(metadata={"kernelspec": python}, cells=cells), path)
    return path


class Cell:
    """What a cell showed: the text of its streams, the plain text of its results, and its error."""

    def __init__(self) -> None:
        self.stdout = self.stderr = self.error = ""
        self.shown: list[dict[str, str]] = []
        self.traceback: list[str] = []


class Kernel:
    def __init__(self, manager: KernelManager) -> None:
        self._manager = manager
        self._client: Any = manager.blocking_client()
        self._client.start_channels()
        self._client.wait_for_ready(HANG_S)

    def run(self, code: str, *, interrupt_at: str = "") -> Cell:
        """Execute a cell; press the button "interrupt" as soon as the cell has printed a pattern."""
        cell, sent = Cell(), self._client.execute(code)
        while True:
            message = self._client.get_iopub_msg(timeout=HANG_S)
            if message["parent_header"].get("msg_id") != sent:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                setattr(cell, content["name"], getattr(cell, content["name"]) + content["text"])
            elif kind in ("execute_result", "display_data"):
                cell.shown.append(content["data"])
            elif kind == "error":
                cell.error, cell.traceback = f"{content['ename']}: {content['evalue']}", content["traceback"]
            elif kind == "status" and content["execution_state"] == "idle":
                return cell
            if interrupt_at and re.search(interrupt_at, cell.stdout):
                interrupt_at = ""
                self._manager.interrupt_kernel()


@contextlib.contextmanager
def start_kernel(folder: Path, **variables: str) -> Iterator[Kernel]:
    """Yield a kernel that works in a folder, with further environment variables; it opens no port."""
    manager = KernelManager(transport="ipc", ip=str(folder / "k"))
    manager.start_kernel(cwd=str(folder), env=os.environ | variables)
    try:
        kernel = Kernel(manager)
        yield kernel
    finally:
        manager.shutdown_kernel(now=True)
