"""Remote hosts by OpenSSH: one connection per host and launch, and one executor on the connection per run.

`connected` logs in for the duration of a context; `open_executor` returns a `RemoteExecutor`, with the methods of
`Executor`.  The remote host runs `remote_agent.py`, which each session sends; no file remains on the remote host.
"""

from loadcurve.lab.hosts.ssh.connection import Address, Connection, connected, parse_url
from loadcurve.lab.hosts.ssh.executor import RemoteExecutor, open_executor

__all__ = ["Address", "Connection", "RemoteExecutor", "connected", "open_executor", "parse_url"]
