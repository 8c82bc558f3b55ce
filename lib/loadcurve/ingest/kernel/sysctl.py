r"""sysctl: settings of the kernel, such as the range of local ports, into the table `settings`.

Seen: procps 4.0.2 on Debian 12 (``sysctl -a``, ``sysctl net.ipv4.tcp_tw_reuse``).

Output of sysctl (procps, ``src/sysctl.c``): ``name = value``, where a tab separates several numbers.  What root alone
may read gives ``sysctl: permission denied on key '…'``, and an unknown name ``sysctl: cannot stat …``, on stderr.  Some
names are no settings but counters: ``net.netfilter.nf_conntrack_count`` is the number of tracked connections now.
"""

import re
from typing import Any

from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import nothing_in
from loadcurve.ingest.snapshots import Lines

_ROW = re.compile(r"((?:abi|debug|dev|fs|kernel|net|user|vm)(?:\.[\w/@*:-]+)+)[ \t]*=[ \t]*(.*)")
_ERROR = re.compile(r"sysctl: .*")
# Values of kernel.* and dev.* are free text.
_NUMERIC = ("fs.", "net.", "user.", "vm.")
_WORD = re.compile(r"-?[0-9]+(?:\.[0-9]+)*|[0-9a-f]+(?:[-,:][0-9a-f]*)*|[A-Za-z][A-Za-z_][\w./-]*")


def parse_sysctl(text: str, timezone: str = "UTC") -> Parsed:
    """Table `settings` of one or several outputs of sysctl.

    A row for each setting; one blank separates several numbers of a value, and an empty value is missing.
    """
    lines = Lines(text, "sysctl", timezone)
    rows: list[dict[str, Any]] = []
    for at, line in enumerate(lines.all):
        if row := _ROW.fullmatch(line):
            words = row[2].split()
            if words and lines.is_open(at):
                lines.warn(at + 1, "the text ends inside this line, which is left out")
            elif row[1].startswith(_NUMERIC) and not all(map(_WORD.fullmatch, words)):
                lines.warn(at + 1, f"not understood as the value of a setting, and left out: {row[2]!r}")
            elif words:
                rows.append({"tool": "sysctl", "setting": row[1], "value": " ".join(words), **lines.stamp})
        elif line and not lines.is_time(at) and not _ERROR.fullmatch(line):
            lines.stray(at)
    if not rows:
        raise nothing_in(text, "settings of sysctl")
    return Parsed("sysctl", {"settings": rows}, lines.warnings)
