"""The JupyterLab of `make jupyter`, on copies of notebooks in a temporary folder, and its page in a browser."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from conftest import ROOT

HANG_S = 240
"""After this time, a test fails because something hangs."""
# Nothing leaves the machine: no browser of the user is opened, no news and no new version are looked for.
_SERVER = {"ServerApp": {"open_browser": False}, "LabApp": {"expose_app_in_browser": True}}
# All cells are on the page, also those that the window does not show.
_SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "notebook-extension/tracker": {"windowingMode": "none"},
}


@contextlib.contextmanager
def serve(folder: Path, notebooks: Mapping[str, bytes]) -> Iterator[str]:
    """Run `make jupyter` in a folder with notebooks by name; yield the address of JupyterLab, with its token.

    The Makefile is that of the checkout, but what it would install first is there already.
    """
    (folder / "notebooks").mkdir(parents=True)
    for name, content in notebooks.items():
        (folder / "notebooks" / name).write_bytes(content)
    config, runtime = folder / "config", folder / "runtime"
    for name, settings in _SETTINGS.items():
        file = config / f"lab/user-settings/@jupyterlab/{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(settings))
    (config / "jupyter_server_config.json").write_text(json.dumps(_SERVER))
    places = {"LOADCURVE_ROOT": folder, "JUPYTER_RUNTIME_DIR": runtime}
    places |= dict.fromkeys(("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR"), config)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LOADCURVE_", "MAKE", "MFLAGS"))}
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            [shutil.which("make") or "make", "-f", ROOT / "Makefile", "jupyter", "ALONE=:", f"BIN={ROOT}/.venv/bin"],
            cwd=folder, env=kept | {name: str(place) for name, place in places.items()},
            stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
        try:
            yield _address(server, folder)
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(HANG_S)


def _address(server: subprocess.Popen, folder: Path) -> str:
    end = time.monotonic() + HANG_S
    while time.monotonic() < end and server.poll() is None:
        for file in (folder / "runtime").glob("jpserver-file-to-run-*.html"):
            for part in file.read_text("utf-8").split('"'):
                if "token=" in part and part.startswith("http"):
                    return part
        time.sleep(0.1)
    raise AssertionError("JupyterLab did not start:\n" + (folder / "log").read_text("utf-8"))
