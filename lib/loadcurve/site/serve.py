"""Serve the handbook, and build it again when its pages or what notebooks published change."""

import errno
import os
import sys
from pathlib import Path

from mkdocs.exceptions import MkDocsException
from mkdocs.livereload import LiveReloadServer

from loadcurve.errors import LoadcurveError
from loadcurve.site.incremental import build
from loadcurve.site.inputs import digest_of_code

_WATCHED = ("handbook", "build/figures", "build/notebooks", "lib/loadcurve", "mkdocs.yml")


def serve(root: Path, port: int = 8000) -> None:
    """Serve `build/site` of a checkout on loopback until SIGINT; a browser reloads its page after each build.

    make has built it, and make alone executes a notebook whose inputs changed.

    Raises
    ------
    LoadcurveError
        When the port cannot be opened.
    """
    code = digest_of_code(root)

    def build_again() -> None:
        if digest_of_code(root) != code:  # this process has imported the old code
            os.execv(sys.executable, [sys.executable, "-m", "loadcurve.site", "serve", str(port)])
        try:
            print(f"Rendered {len(build(root))} pages", flush=True)
        except (MkDocsException, LoadcurveError, SystemExit) as error:
            # The pages that were written last stay, and the next change builds again.
            print(error, file=sys.stderr, flush=True)

    server = LiveReloadServer(builder=build_again, host="127.0.0.1", port=port, root=str(root / "build" / "site"))
    for name in _WATCHED:
        server.watch(str(root / name))
    print(f"Serving the handbook on {server.url} (Ctrl-C ends it)", flush=True)
    try:
        server.serve()
    except KeyboardInterrupt:
        pass
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        raise LoadcurveError(f"port {port}: {error.strerror}; name another one: make serve PORT=8001") from None
    finally:
        server.shutdown()
