"""Hosts by OpenSSH: a connection for a launch, a place on it for each run.

`connected` logs in for as long as a context lasts; `open_place` gives a `RemotePlace`, with the methods of
`lab.places.Place`.  What runs on the host is `far_end.py`, sent along; nothing is installed there, and nothing stays.
"""

from loadcurve.lab.ssh.address import Address, parse_url
from loadcurve.lab.ssh.connection import Connection, connected
from loadcurve.lab.ssh.place import RemotePlace, open_place

__all__ = ["Address", "Connection", "RemotePlace", "connected", "open_place", "parse_url"]
