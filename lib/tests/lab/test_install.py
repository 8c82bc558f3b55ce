"""`launch --install` on a system without a program of the study: real apt, on overlays of /usr, /var and /etc."""

import os
import subprocess
import sys

import pytest

from loadcurve.lab.hosts.tools import which

pytestmark = pytest.mark.lab

STUDY = """\
study: small
question: Does it start?
topology: {recipe: loopback}
server: {nginx: {response: {text: {body_bytes: 10}}}}
load: {tool: h2load, connections: 2, duration_s: 1}
repeats: 1
"""
# Only this mount namespace sees the overlays, and they end with it.
WITHOUT = """
set -e
mount -t tmpfs none "$1"
for part in usr var etc; do
    mkdir -p "$1/$part/new" "$1/$part/work"
    mount -t overlay overlay -o "lowerdir=/$part,upperdir=$1/$part/new,workdir=$1/$part/work" "/$part" || exit 99
done
dpkg --remove --force-depends nghttp2-client >/dev/null
shift
exec "$@"
"""


def launch(tmp_path, *options):
    overlays = tmp_path / "overlays"
    overlays.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "loadcurve", "launch", str(tmp_path / "small"), "--busy", *options]
    argv = ["unshare", "-m", "sh", "-c", WITHOUT, "sh", str(overlays), *command]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode == 99:
        pytest.skip(f"no overlay of the system's folders can be mounted here: {done.stderr}")
    return done


def test_what_a_study_needs_is_named_or_installed(tmp_path):
    if os.geteuid() != 0 or which("dpkg") is None or which("h2load") is None:
        pytest.skip("needs root, dpkg and the package nghttp2-client")
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "study.yml").write_text(STUDY)
    named = launch(tmp_path)
    assert named.returncode == 1
    assert "h2load is not installed: apt-get install nghttp2-client" in named.stderr
    assert not (tmp_path / "small" / "runs.json").exists()
    installed = launch(tmp_path, "--install")
    assert installed.returncode == 0, installed.stdout + installed.stderr
    assert "Missing packages: nghttp2-client" in installed.stdout
    assert "run 1 of 1 " in installed.stdout
