"""A real Chromium for the tests of pages, and whether there is one."""

import os
import shutil

import pytest
from playwright.sync_api import sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# CI must have it: there a skipped browser would be a check that cannot fail.
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ, reason="no Chromium: apt-get install chromium"
)
_FLAGS = [
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="module", name="browser")
def open_browser():
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=_FLAGS)
        yield chromium
        chromium.close()
