"""Remote hosts by OpenSSH: a connection for a launch, an executor on it for each run.

`connected` logs in for as long as a context lasts; `open_executor` returns a `RemoteExecutor`, with the methods of
`Executor`.  The remote host runs `remote_agent.py`, which each session sends; nothing stays there.
"""

from loadcurve.lab.hosts.ssh.address import Address, parse_url
from loadcurve.lab.hosts.ssh.connection import Connection, connected
from loadcurve.lab.hosts.ssh.executor import RemoteExecutor, open_executor

__all__ = ["Address", "Connection", "RemoteExecutor", "connected", "open_executor", "parse_url"]
