"""A private nginx: its own prefix, configuration and pid, one worker, a free loopback port."""

import re

from loadcurve.errors import LabError

_DELAY = re.compile(r"delay (\d+)ms\Z")

# A directive of nginx.conf must fit its 4096-byte buffer (nginx src/core/ngx_conf_file.c, NGX_CONF_BUFFER).
_LARGEST_BODY_BYTES = 3000

_CONFIG = """\
# A private nginx of the laboratory; started in the run's folder by the command in run.json.
daemon off;
worker_processes 1;
pid nginx.pid;
error_log stderr warn;
{modules}
events {{
    worker_connections {connections};
}}

http {{
    access_log off;
    # The default of 1000 would close and reopen connections during the run.
    keepalive_requests 1000000000;
    client_body_temp_path tmp;
    proxy_temp_path tmp;
    fastcgi_temp_path tmp;
    uwsgi_temp_path tmp;
    scgi_temp_path tmp;

    server {{
        listen 127.0.0.1:{port} backlog={backlog};
        default_type text/plain;
        location / {{
            {response}
        }}
    }}
}}
"""


def needs_echo_module(recipe: str) -> bool:
    """Whether a server recipe waits, which takes nginx's echo module."""
    return _DELAY.match(recipe) is not None


def configuration(recipe: str, *, port: int, body_bytes: int, connections: int, echo_module: str | None) -> str:
    """Text of `nginx.conf` for a recipe.

    Parameters
    ----------
    recipe : str
        ``cpu``: answer at once from memory, so the processor limits.  ``delay Nms``: wait N ms on a timer, then
        answer, so that the response time is that of the formula X = N/R.
    port : int
        Free loopback port to listen on.
    body_bytes : int
        Length of the response's body, 1–3000.
    connections : int
        Largest number of concurrent connections to expect.
    echo_module : str or None
        Path of the echo module, for ``delay``.

    Raises
    ------
    LabError
        When the recipe is not known or the body is too long for it.
    """
    if not 1 <= body_bytes <= _LARGEST_BODY_BYTES:
        raise LabError(f"response_bytes must be 1 to {_LARGEST_BODY_BYTES}, got {body_bytes}")
    delay = _DELAY.match(recipe)
    if recipe == "cpu":
        response = f'return 200 "{"x" * body_bytes}";'
    elif delay:
        response = f"echo_sleep {int(delay[1]) / 1000:.3f};\n            echo_duplicate {body_bytes} x;"
    else:
        raise LabError(f"a variant's recipe must be 'cpu', 'delay Nms' or an http:// URL, got {recipe!r}")
    return _CONFIG.format(
        modules=f"load_module {echo_module};\n" if delay else "",
        # Two descriptors to spare for each connection; at least nginx's own default of 512.
        connections=max(512, 2 * connections),
        # Room for every connection at once: the default of 511 would drop SYNs of the largest level.
        backlog=max(511, 2 * connections),
        port=port,
        response=response,
    )


def argv(config_file: str, version: str) -> tuple[str, ...]:
    """Command of the private nginx, run in the run's folder; everything it writes goes under ``.work``.

    From 1.19.5 on nginx can be told where errors go before it has read its configuration (``-e``).
    """
    early_errors = ("-e", "stderr") if _numbers(version) >= (1, 19, 5) else ()
    return ("nginx", "-p", ".work", "-c", f"../{config_file}", *early_errors)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
