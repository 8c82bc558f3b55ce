r"""sysstat's columns: which table each enters, under which name, and in which unit; for sar, sadf, mpstat and pidstat.

One declaration for the text of sar and for what sadf prints of the same recording.  Seen in samples: sysstat 12.6.1;
the names of older and newer versions are those of the headers in ``activity.c`` (``hdr_line``, 10 to 12.7) and
``sar.c`` (5 to 9), and of outputs in public repositories.

Units, from ``man sar`` and ``pr_stats.c``: a percentage is a ratio; kB and MB are in steps of 1024; sectors and the
blocks of ``-b`` have 512 bytes; ``pgpgin/s`` and ``pgpgout/s`` are kB; times are milliseconds; ``cap/min`` is percent
of the capacity per minute.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from loadcurve.units import unit_of_column

KB = 1024.0
SECTOR = 512.0  # bytes


class Column(NamedTuple):
    """Where a printed column goes: SI value = printed value · `times` / `per`.

    Attributes
    ----------
    table, name : str
        Our table and column; in the table `counters` the name as printed.
    times, per : float
        Two numbers, so that 20.62 % is exactly the nearest number to 0.2062.
    unit : str
        SI unit; empty for a count.
    """

    table: str
    name: str
    times: float
    per: float
    unit: str

    @property
    def whole(self) -> bool:
        """Whether the table holds whole numbers in it."""
        return self.table == "sockets" or self.name in ("run_queue", "tasks", "blocked")

    def si(self, printed: float) -> float:
        """Value in SI units.

        Examples
        --------
        >>> section_of(["IFACE", "rxpck/s", "rxkB/s"]).column("rxkB/s").si(1.5)
        1536.0
        """
        return printed * self.times / self.per


@dataclass(frozen=True, eq=False)  # a section is itself
class Section:
    """What one option of sar prints.

    Attributes
    ----------
    option : str
        The option, which is the `group` in `counters` and `averages`: ``-n DEV``; empty for an unknown section.
    table : str
        Our table; a column of the section that has no place there is in `counters`.
    items : tuple of str
        Printed columns that name what a row is about; a header has at most one, but for `texts`.
    item : str
        Column of our table for it.
    columns : dict
        Printed column → `Column`.
    texts : tuple of str
        Printed columns that hold words.
    """

    option: str
    table: str = "counters"
    items: tuple[str, ...] = ()
    item: str = "item"
    columns: dict[str, Column] = field(default_factory=dict)
    texts: tuple[str, ...] = ()

    def column(self, printed: str) -> Column:
        """Where a column of this section goes; an unknown one goes to `counters`, in an unknown unit.

        Examples
        --------
        >>> section_of(["proc/s", "cswch/s"]).column("cswch/s")
        Column(table='counters', name='cswch/s', times=1.0, per=1.0, unit='per_s')
        """
        if self.table == "interrupts" and re.fullmatch(rf"all|CPU[0-9]+|{PER_INTERRUPT.pattern}", printed):
            return self.columns["intr/s"]
        return self.columns.get(printed) or Column("counters", printed, 1.0, 1.0, "")

    def group(self, tool: str) -> str:
        """`group` of the section's rows in `counters` and `averages`: ``sar -B``.

        Examples
        --------
        >>> section_of(["pgpgin/s", "pgpgout/s"]).group("sar")
        'sar -B'
        """
        return f"{tool} {self.option}".strip()


def section_of(header: Sequence[str]) -> Section:
    """Return the section that has most of a header's columns; one without a name where none has any.

    Parameters
    ----------
    header : sequence of str
        The printed columns, without the time.

    Examples
    --------
    >>> section_of(["CPU", "%user", "%nice", "%system", "%iowait", "%steal", "%idle"]).table
    'cpu'
    >>> section_of(["call/s", "retrans/s", "read/s"]).option, section_of(["atmptf/s", "retrans/s"]).option
    ('-n NFS', '-n ETCP')
    >>> section_of(["INTR", "all", "CPU0"]).option, section_of(["kbswpfree", "kbswpused"]).option
    ('-I', '-S')
    >>> section_of(["foo/s"]).option
    ''
    """
    return _section_of(tuple(header))


@lru_cache(4096)
def _section_of(header: tuple[str, ...]) -> Section:
    if "INTR" in header or any(PER_INTERRUPT.fullmatch(name) for name in header):
        return INTERRUPTS

    # `tps` is in -b and, beside an item, in -d; the columns of -S were in -r once.
    def fits(section: Section) -> tuple[int, bool, int]:
        known = sum(name in section.columns or name in section.texts for name in header)
        named = not ITEMS.isdisjoint(header)
        return (
            known,
            named == bool(section.items) and named == any(n in section.items for n in header),
            -len(section.columns),
        )

    best = max(SECTIONS, key=fits)
    return best if fits(best)[0] else Section("", items=tuple(name for name in header if name in ITEMS))


def _words(table: str, text: str) -> dict[str, Column]:
    """Columns from ``printed=ours`` words."""
    return {
        printed: Column(table, ours, *_SCALE.get(printed, _scale(printed)), unit_of_column(ours))
        for printed, ours in (word.split("=") for word in text.split())
    }


def _counters(text: str) -> dict[str, Column]:
    """Columns for the table `counters`, whose unit is told from the printed name."""
    return {name: Column("counters", name, *_SCALE.get(name, _scale(name)), _unit(name)) for name in text.split()}


def _scale(printed: str) -> tuple[float, float]:
    if printed.startswith("%"):
        return 1.0, 100.0
    if printed.startswith("kb") or printed.endswith("kB/s"):
        return KB, 1.0
    if printed.startswith("MB"):
        return KB * KB, 1.0
    return (1e6, 1.0) if printed.endswith("MHz") else (1.0, 1.0)


def _unit(printed: str) -> str:
    if printed in _UNIT:
        return _UNIT[printed]
    if printed.startswith("%"):
        return "ratio"
    if printed.startswith(("kb", "MB")):
        return "bytes"
    if printed.endswith("MHz"):
        return "Hz"
    return ("bytes_per_s" if printed.endswith("kB/s") else "per_s") if printed.endswith("/s") else ""


_SCALE = {
    "await": (1.0, 1000.0), "svctm": (1.0, 1000.0),
    "rd_sec/s": (SECTOR, 1.0), "wr_sec/s": (SECTOR, 1.0), "sect/s": (SECTOR, 1.0), "blks/s": (SECTOR, 1.0),
    "avgrq-sz": (SECTOR, 1.0),
    "areq-sz": (KB, 1.0),
    "pgpgin/s": (KB, 1.0), "pgpgout/s": (KB, 1.0),
    "bread/s": (SECTOR, 1.0), "bwrtn/s": (SECTOR, 1.0), "bdscd/s": (SECTOR, 1.0),
    "rpm": (1.0, 60.0), "drpm": (1.0, 60.0), "cap/min": (1.0, 6000.0), "maxpower": (1.0, 1000.0),
}  # fmt: skip
_UNIT = {
    "pgpgin/s": "bytes_per_s", "pgpgout/s": "bytes_per_s", "sect/s": "bytes_per_s", "blks/s": "bytes_per_s",
    "bread/s": "bytes_per_s", "bwrtn/s": "bytes_per_s", "bdscd/s": "bytes_per_s",
    "tps": "per_s", "rtps": "per_s", "wtps": "per_s", "dtps": "per_s",
    "rpm": "per_s", "drpm": "per_s", "cap/min": "per_s", "degC": "degC", "inV": "V", "maxpower": "A",
}  # fmt: skip

_DEV = (
    "rxpck/s=received_pps txpck/s=transmitted_pps rxkB/s=received_bytes_per_s txkB/s=transmitted_bytes_per_s "
    "rxbyt/s=received_bytes_per_s txbyt/s=transmitted_bytes_per_s rxcmp/s=received_compressed_pps "
    "txcmp/s=transmitted_compressed_pps rxmcst/s=received_multicast_pps %ifutil=utilisation_ratio"
)
_EDEV = (
    "rxerr/s=received_errors_pps txerr/s=transmitted_errors_pps coll/s=collisions_per_s rxdrop/s=received_dropped_pps "
    "txdrop/s=transmitted_dropped_pps txcarr/s=carrier_errors_per_s rxfram/s=frame_errors_per_s "
    "rxfifo/s=received_overruns_per_s txfifo/s=transmitted_overruns_per_s"
)
_CPU = (
    "%user=cpu_user_ratio %usr=cpu_user_ratio %nice=cpu_nice_ratio %system=cpu_system_ratio %sys=cpu_system_ratio "
    "%iowait=cpu_iowait_ratio %steal=cpu_steal_ratio %irq=cpu_irq_ratio %soft=cpu_softirq_ratio "
    "%guest=cpu_guest_ratio %gnice=cpu_guest_nice_ratio %idle=cpu_idle_ratio"
)
_DISK = (
    "tps=transfers_per_s rkB/s=read_bytes_per_s wkB/s=written_bytes_per_s dkB/s=discarded_bytes_per_s "
    "rd_sec/s=read_bytes_per_s wr_sec/s=written_bytes_per_s areq-sz=request_bytes avgrq-sz=request_bytes aqu-sz=queue "
    "avgqu-sz=queue await=wait_mean_s svctm=service_mean_s %util=utilisation_ratio"
)
_RAM = (
    "kbmemfree=free_bytes kbavail=available_bytes kbmemused=used_bytes %memused=used_ratio kbmemshrd=shared_bytes "
    "kbbuffers=buffers_bytes kbcached=cached_bytes kbcommit=committed_bytes %commit=committed_ratio "
    "kbactive=active_bytes kbinact=inactive_bytes kbdirty=dirty_bytes kbshmem=shared_bytes kbanonpg=anonymous_bytes "
    "kbslab=slab_bytes kbkstack=kernel_stack_bytes kbpgtbl=page_table_bytes kbvmused=vmalloc_used_bytes"
)
_SWAP = (
    "kbswpfree=swap_free_bytes kbswpused=swap_used_bytes %swpused=swap_used_ratio kbswpcad=swap_cached_bytes "
    "%swpcad=swap_cached_ratio"
)
_QUEUE = "runq-sz=run_queue plist-sz=tasks ldavg-1=load_1min ldavg-5=load_5min ldavg-15=load_15min blocked=blocked"
_SOCK = "totsck=total tcpsck=tcp udpsck=udp rawsck=raw ip-frag=fragments tcp-tw=time_wait"
_SOCK6 = "tcp6sck=tcp_ipv6 udp6sck=udp_ipv6 raw6sck=raw_ipv6 ip6-frag=fragments_ipv6"
_TCP = "active/s=active_opens_per_s passive/s=passive_opens_per_s iseg/s=segments_received_pps oseg/s=segments_sent_pps"
_ETCP = (
    "atmptf/s=attempt_fails_per_s estres/s=established_resets_per_s retrans/s=retransmits_pps "
    "retrseg/s=retransmits_pps isegerr/s=receive_errors_pps orsts/s=resets_sent_pps"
)

# Besides `intr/s` any number of columns: one for each processor, or i000/s … for each interrupt of one processor.
INTERRUPTS = Section(
    "-I",
    "interrupts",
    ("INTR",),
    "interrupt",
    {"intr/s": Column("interrupts", "interrupts_per_s", 1.0, 1.0, "per_s")},
)
PER_INTERRUPT = re.compile(r"i[0-9]+/s")
PER_PROCESSOR = re.compile(rf"CPU[0-9]+|{PER_INTERRUPT.pattern}")
SECTIONS: tuple[Section, ...] = (
    Section("-u", "cpu", ("CPU",), "cpu", _words("cpu", _CPU)),
    Section("-q", "load", columns=_words("load", _QUEUE)),
    # Up to version 9, -r printed memory and swap space in one line.
    Section("-r", "memory", columns=_words("memory", f"{_RAM} {_SWAP}")),
    Section("-S", "memory", columns=_words("memory", _SWAP)),
    Section("-d", "disks", ("DEV",), "device", _words("disks", _DISK) | _counters("sect/s blks/s")),
    Section("-n DEV", "network", ("IFACE",), "interface", _words("network", _DEV)),
    Section("-n EDEV", "network", ("IFACE",), "interface", _words("network", _EDEV)),
    Section("-n TCP", "tcp", columns=_words("tcp", _TCP)),
    Section("-n ETCP", "tcp", columns=_words("tcp", _ETCP)),
    Section("-n SOCK", "sockets", columns=_words("sockets", _SOCK)),
    Section("-n SOCK6", "sockets", columns=_words("sockets", _SOCK6)),
    INTERRUPTS,
    Section("-w", columns=_counters("proc/s cswch/s")),
    Section("-W", columns=_counters("pswpin/s pswpout/s")),
    Section(
        "-B", columns=_counters(
            "pgpgin/s pgpgout/s fault/s majflt/s pgfree/s pgscank/s pgscand/s pgsteal/s pgprom/s pgdem/s %vmeff "
            "activepg inadtypg inaclnpg inatarpg"
        ),
    ),
    Section("-b", columns=_counters("tps rtps wtps dtps bread/s bwrtn/s bdscd/s")),
    Section("-R", columns=_counters("frmpg/s shmpg/s bufpg/s campg/s")),
    Section("-H", columns=_counters("kbhugfree kbhugused %hugused kbhugrsvd kbhugsurp")),
    Section(
        "-v", columns=_counters(
            "dentunusd file-nr inode-nr pty-nr file-sz %file-sz inode-sz super-sz %super-sz dquot-sz %dquot-sz "
            "rtsig-sz %rtsig-sz"
        ),
    ),
    Section("-y", items=("TTY",), columns=_counters(
        "rcvin/s xmtin/s txmtin/s framerr/s prtyerr/s brk/s ovrun/s"
    )),
    Section("-F", items=("FILESYSTEM",), columns=_counters(
        "MBfsfree MBfsused %fsused %ufsused Ifree Iused %Iused"
    )),
    Section("-F MOUNT", items=("MOUNTPOINT",), columns=_counters(
        "MBfsfree MBfsused %fsused %ufsused Ifree Iused %Iused"
    )),
    Section("-q CPU", columns=_counters("%scpu-10 %scpu-60 %scpu-300 %scpu")),
    Section("-q IO", columns=_counters(
        "%sio-10 %sio-60 %sio-300 %sio %fio-10 %fio-60 %fio-300 %fio"
    )),
    Section("-q MEM", columns=_counters(
        "%smem-10 %smem-60 %smem-300 %smem %fmem-10 %fmem-60 %fmem-300 %fmem"
    )),
    Section("-m CPU", items=("CPU",), columns=_counters("MHz")),
    Section("-m FREQ", items=("CPU",), columns=_counters("wghMHz")),
    Section("-m FAN", items=("FAN",), columns=_counters("rpm drpm"), texts=("DEVICE",)),
    Section("-m TEMP", items=("TEMP",), columns=_counters("degC %temp"), texts=("DEVICE",)),
    Section("-m IN", items=("IN",), columns=_counters("inV %in"), texts=("DEVICE",)),
    Section("-m BAT", items=("BAT",), columns=_counters("%cap cap/min"), texts=("status",)),
    Section(
        "-m USB", items=("BUS",), columns=_counters("maxpower"), texts=("idvendor", "idprod", "manufact", "product"),
    ),
    Section("-n NFS", columns=_counters("call/s retrans/s read/s write/s access/s getatt/s")),
    Section("-n NFSD", columns=_counters(
        "scall/s badcall/s packet/s udp/s tcp/s hit/s miss/s sread/s swrite/s saccess/s sgetatt/s"
    )),
    Section("-n IP", columns=_counters(
        "irec/s fwddgm/s idel/s orq/s asmrq/s asmok/s fragok/s fragcrt/s"
    )),
    Section("-n EIP", columns=_counters(
        "ihdrerr/s iadrerr/s iukwnpr/s idisc/s odisc/s onort/s asmf/s fragf/s"
    )),
    Section("-n ICMP", columns=_counters(
        "imsg/s omsg/s iech/s iechr/s oech/s oechr/s itm/s itmr/s otm/s otmr/s iadrmk/s iadrmkr/s oadrmk/s oadrmkr/s"
    )),
    Section("-n EICMP", columns=_counters(
        "ierr/s oerr/s idstunr/s odstunr/s itmex/s otmex/s iparmpb/s oparmpb/s isrcq/s osrcq/s iredir/s oredir/s"
    )),
    Section("-n UDP", columns=_counters("idgm/s odgm/s noport/s idgmerr/s")),
    Section("-n IP6", columns=_counters(
        "irec6/s fwddgm6/s idel6/s orq6/s asmrq6/s asmok6/s imcpck6/s omcpck6/s fragok6/s fragcr6/s"
    )),
    Section("-n EIP6", columns=_counters(
        "ihdrer6/s iadrer6/s iukwnp6/s i2big6/s idisc6/s odisc6/s inort6/s onort6/s asmf6/s fragf6/s itrpck6/s"
    )),
    Section("-n ICMP6", columns=_counters(
        "imsg6/s omsg6/s iech6/s iechr6/s oechr6/s igmbq6/s igmbr6/s ogmbr6/s igmbrd6/s ogmbrd6/s irtsol6/s ortsol6/s "
        "irtad6/s inbsol6/s onbsol6/s inbad6/s onbad6/s"
    )),
    Section("-n EICMP6", columns=_counters(
        "ierr6/s idtunr6/s odtunr6/s itmex6/s otmex6/s iprmpb6/s oprmpb6/s iredir6/s oredir6/s ipck2b6/s opck2b6/s"
    )),
    Section("-n UDP6", columns=_counters("idgm6/s odgm6/s noport6/s idgmer6/s")),
    Section("-n FC", items=("FCHOST",), columns=_counters(
        "fch_rxf/s fch_txf/s fch_rxw/s fch_txw/s"
    )),
    Section("-n SOFT", items=("CPU",), columns=_counters(
        "total/s dropd/s squeezd/s rx_rps/s flw_lim/s blg_len"
    )),
    # Processes, up to version 7; -x is something else from 12.7 on.
    Section("-x", items=("PID",), columns=_counters("minflt/s majflt/s %user %system nswap/s CPU")),
    Section("-X", items=("PPID",), columns=_counters("cminflt/s cmajflt/s %cuser %csystem cnswap/s")),
    Section("-x SUM", columns=_counters("minflt/s majflt/s")),
)  # fmt: skip
ITEMS = frozenset(name for section in SECTIONS for name in section.items)
"""Printed columns that name what a row is about."""
