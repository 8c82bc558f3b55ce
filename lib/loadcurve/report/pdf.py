"""A page as PDF, printed by Chromium where one is installed."""

import errno
import os
import shutil
import subprocess

from loadcurve.errors import LoadcurveError
from loadcurve.files.runtime import temporary_folder

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Commands that print a page without a window."""

_LITTLE = 10_000_000  # bytes; a profile takes 3 MB
_SECONDS = 120.0  # a page takes 2 s; a machine under load may take a minute


def pdf_of(page: str) -> bytes:
    """Return an HTML page as PDF.

    Raises LoadcurveError when there is no Chromium, or it prints nothing.
    """
    chromium = next(filter(None, map(shutil.which, BROWSERS)), None)
    if chromium is None:
        raise LoadcurveError(
            f"PDF needs one of {', '.join(BROWSERS)}, got none: install Chromium (apt-get install chromium), or write "
            ".html and print it from a browser"
        )
    with temporary_folder() as folder:
        source, target = folder / "report.html", folder / "report.pdf"
        source.write_text(page, "utf-8")
        command = [
            *(["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []),  # it ends with this process
            chromium, "--headless", "--disable-gpu", "--no-first-run", "--no-pdf-header-footer",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            f"--user-data-dir={folder}/profile", f"--print-to-pdf={target}",
            *(["--no-sandbox"] if os.geteuid() == 0 else []),  # Chromium refuses its sandbox as root
            source.as_uri(),
        ]  # fmt: skip
        try:
            env = {**os.environ, "TMPDIR": str(folder)}
            ended = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False, env=env)
        except (OSError, subprocess.SubprocessError) as error:
            raise LoadcurveError(f"{chromium} must print the page as PDF, got: {error}") from None
        page_as_pdf = target.read_bytes() if target.is_file() else b""
        if b"%%EOF" not in page_as_pdf[-1024:]:
            if shutil.disk_usage(folder).free < _LITTLE:  # which Chromium does not report
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))
            reason = (ended.stderr.strip().splitlines() or [f"exit code {ended.returncode}"])[-1]
            raise LoadcurveError(f"{chromium} must print the page as PDF, got: {reason}")
        return page_as_pdf
