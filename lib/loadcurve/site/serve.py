"""Serve the handbook, and build it again when its pages or what notebooks published change."""

import errno
import ipaddress
import logging
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mkdocs import livereload
from mkdocs.exceptions import MkDocsException

from loadcurve.errors import LoadcurveError, printable
from loadcurve.runtime.output import echo
from loadcurve.site.incremental import build
from loadcurve.site.inputs import digest_of_code
from loadcurve.site.safety import hash_of, policy_of

_LONGEST_PATH = 4096  # bytes: PATH_MAX of Linux
_WATCHED = ("handbook", "build/figures", "build/notebooks", "lib/loadcurve", "mkdocs.yml")


class SiteServer(livereload.LiveReloadServer):
    """Server of `build/site` on loopback: sends each page's policy as a header too, answers only to its own names."""

    def __init__(self, root: Path, builder: Callable[[], None], port: int) -> None:
        super().__init__(builder=builder, host="127.0.0.1", port=port, root=str(root / "build" / "site"))
        self.RequestHandlerClass = _Handler
        livereload.log.logger.addFilter(_make_printable)
        for name in _WATCHED:
            self.watch(str(root / name))

    def serve_request(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer a request, with the headers that every answer has."""
        answer: list[Any] = []
        refused, reason = _refusal(environ, self.url)
        if not refused:
            body = super().serve_request(environ, lambda *status_and_headers: answer.extend(status_and_headers))
        else:
            answer = [refused, [("Content-Type", "text/plain"), ("Allow", "GET, HEAD")]]
            body = [f"{reason}\n".encode()]
        status, headers = answer
        page = ""
        if ("Content-Type", "text/html") in headers:
            body = [b"".join(body)]
            page = body[0].decode("utf-8", "replace")
        start_response(status, [*headers, *_security(page)])
        return [] if environ["REQUEST_METHOD"] == "HEAD" else body

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print a fault, which a client that leaves before its answer is not."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    def _inject_js_into_html(self, content: bytes, epoch: int) -> bytes:
        """Add the script that loads a page again after a build, and allow it in the policy of the page."""
        served: bytes = super()._inject_js_into_html(content, epoch)  # type: ignore[no-untyped-call]
        script = served.rpartition(b"</script>")[0].rpartition(b"<script>")[2]
        return served.replace(b"script-src", f"script-src {hash_of(script.decode())}".encode(), 1)


class _Handler(livereload._Handler):
    default_request_version = "HTTP/1.0"  # an answer to a malformed request of HTTP/0.9 would have no status

    def end_headers(self) -> None:
        """End the headers of an answer to a malformed request, which does not reach `serve_request`."""
        for name, value in _security(""):
            self.send_header(name, value)
        super().end_headers()


def _make_printable(record: logging.LogRecord) -> bool:
    """Escape what anybody on this machine wrote into a line of the log: the request, or where it came from."""
    record.msg, record.args = printable(record.getMessage()), ()
    return True


def _security(page: str) -> list[tuple[str, str]]:
    policy = f"{policy_of(page)}; frame-ancestors 'self'"
    return [("Content-Security-Policy", policy), ("X-Content-Type-Options", "nosniff")]


def _refusal(environ: dict[str, Any], url: str) -> tuple[str, str]:
    """Return the status and the reason with which a request is refused; empty for one that is served."""
    if not _is_local(environ.get("HTTP_HOST", "")):
        return "421 Misdirected Request", f"Host must be localhost or an IP address: open {url}"
    if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
        return "405 Method Not Allowed", "the method must be GET or HEAD"
    if "\0" in environ["PATH_INFO"] or len(environ["PATH_INFO"]) > _LONGEST_PATH:
        return "400 Bad Request", f"a path has no NUL and at most {_LONGEST_PATH} bytes"
    return "", ""


def _is_local(host: str) -> bool:
    """Return whether a request names this machine.

    A page elsewhere can bind its own name to 127.0.0.1 and read the answers; the browser then sends that name.
    """
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or bool(ipaddress.ip_address(name))
    except ValueError:
        return False


def serve(root: Path, port: int = 8000) -> None:
    """Serve `build/site` of a checkout on loopback until SIGINT; a browser reloads its page after each build.

    make has built it, and make alone executes a notebook whose inputs changed.  Raises LoadcurveError when the port
    cannot be opened.
    """
    code = digest_of_code(root)

    def build_again() -> None:
        if digest_of_code(root) != code:  # this process has imported the old code
            os.execv(sys.executable, [sys.executable, "-m", "loadcurve.site", "serve", str(port)])
        try:
            echo(f"Rendered {len(build(root))} pages")
        except (MkDocsException, LoadcurveError, SystemExit) as error:
            # The pages that were written last stay, and the next change builds again.
            echo(error, err=True)

    server = SiteServer(root, build_again, port)
    echo(f"Serving the handbook on {server.url} (Ctrl-C ends it)")
    try:
        server.serve()  # type: ignore[no-untyped-call]
    except KeyboardInterrupt:
        pass
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        raise LoadcurveError(f"port {port}: {error.strerror}; name another one: make serve PORT=8001") from None
    finally:
        server.shutdown()
