"""Ask git about a checkout, without running what the checkout's configuration names."""

import os
import subprocess
from pathlib import Path

from loadcurve.errors import LoadcurveError, printable
from loadcurve.files.atomic import temporary_folder


def git(folder: Path, *argv: str) -> str:
    """Return what a command of git prints about the repository of a folder.

    The configuration of a repository that somebody else made may name programs: filters, monitors of files, hooks.
    Only the questions for its folders and for two truth values are asked in it, which run none.  The command itself
    gets another repository, without configuration: a temporary folder with this one's HEAD, index, names and objects.
    """

    def run(*words: str, **env: str) -> str:
        done = subprocess.run(
            ["git", *words],
            cwd=folder,
            env={**os.environ, **env},
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
        return done.stdout.strip()

    try:
        top, own, shared = run("rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir").split("\n")
        options: list[str] = []
        for key in ("core.fileMode", "core.symlinks"):  # which this file system may not store
            options += ["-c", f"{key}={run('config', '--type=bool', '--default=true', '--get', key)}"]
        with temporary_folder() as copy:
            (copy / "HEAD").write_bytes((Path(own) / "HEAD").read_bytes())
            (copy / "index").symlink_to(Path(own) / "index")
            for name in ("objects", "refs", "packed-refs", "shallow"):
                (copy / name).symlink_to((folder / shared / name).resolve())
            return run(*options, *argv, GIT_DIR=str(copy), GIT_WORK_TREE=top, GIT_OPTIONAL_LOCKS="0")
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        said = (getattr(error, "stderr", "") or str(error)).strip().splitlines()
        raise LoadcurveError(f"{folder}: expected a checkout of git, got {printable(said[0])}") from None
