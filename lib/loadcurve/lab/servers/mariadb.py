"""A private MariaDB with one small table, reached by its socket or, from other hosts, by TCP.

It starts in an empty folder within a second because it has no tables of accounts: every client has all rights.  So it
listens only on its socket in the run's folder and, if `listen` is given, on an address of a namespace or loopback.
"""

from dataclasses import dataclass
from typing import Annotated

from loadcurve.lab.hosts.tools import Tool
from loadcurve.lab.servers.service import Service
from loadcurve.lab.servers.settings import Endpoint, check_endpoint, check_name, check_program
from loadcurve.study.section import Check, Range, Section

TOOL = Tool("mariadbd", "database", "--version", "mariadb-server-core")

DATABASE = "lab"
Rows = Annotated[int, Range(1, 1_000_000)]


@dataclass(frozen=True)
class MariaDb(Section):
    """A database server."""

    name: Annotated[str, Check(check_name)]  # Of the service
    rows: Rows = 1000  # Rows of its table `lab.items`: `id` from 1 on, and `name`
    connections: Annotated[int, Range(1, 10_000)] = 151  # `max_connections`
    # Size of the buffer pool; by default far larger than the table, so that reads come from memory.
    buffer_mib: Annotated[int, Range(5, 65_536)] = 128
    listen: Annotated[Endpoint | None, Check(check_endpoint)] = None  # Where it listens besides its socket
    program: Annotated[str, Check(check_program)] = "mariadbd"  # Its name, or its absolute path

    @property
    def socket(self) -> str:
        """Its socket, in the run's folder."""
        return f"{self.name}.work/db.sock"


def mariadb_service(database: MariaDb) -> Service:
    """Return the service of a database.

    Parameters
    ----------
    database : MariaDb
        Its settings.

    Examples
    --------
    >>> mariadb_service(MariaDb("DB")).folders
    ('DB.work',)
    """
    name, listen = database.name, database.listen
    reached = (f"--bind-address={listen.address}", f"--port={listen.port}") if listen else ("--skip-networking",)
    # Each statement on a line of its own; the engine of sequences is built in.
    tables = (
        f"CREATE DATABASE {DATABASE};\n"
        f"CREATE TABLE {DATABASE}.items (id INT PRIMARY KEY, name VARCHAR(32) NOT NULL);\n"
        f"INSERT INTO {DATABASE}.items SELECT seq, CONCAT('item ', seq) FROM {DATABASE}.seq_1_to_{database.rows};\n"
    )
    argv = (
        database.program,
        "--no-defaults",
        "--user=root",  # it refuses root otherwise; of no effect for others
        f"--datadir=./{name}.work",
        # It changes to that folder before it reads what follows.
        "--socket=db.sock",
        "--pid-file=db.pid",
        f"--init-file=../{name}.sql",
        "--skip-grant-tables",
        *reached,
        f"--max-connections={database.connections}",
        f"--innodb-buffer-pool-size={database.buffer_mib}M",
        "--innodb-log-file-size=16M",
        "--innodb-buffer-pool-dump-at-shutdown=OFF",
    )
    return Service(name, "mariadbd", argv, files={f"{name}.sql": tables}, folders=(f"{name}.work",))
