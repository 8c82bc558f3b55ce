"""The sections of sysstat, for sar and sadf: the columns that each option prints, and their table columns.

Seen in samples: sysstat 12.6.1; the names of older and newer versions are those of the headers in ``activity.c``
(``hdr_line``, 10 to 12.7) and ``sar.c`` (5 to 9), and of output in public repositories.
"""

from collections.abc import Sequence
from functools import lru_cache

from loadcurve.ingest.sysstat.columns import PER_INTERRUPT, Section, columns_of, counters_of

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
CPU_COLUMNS = dict(word.split("=") for word in _CPU.split())
"""Printed column of a processor's time → column of the table `cpu`."""
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
_FILESYSTEM = "MBfsfree MBfsused %fsused %ufsused Ifree Iused %Iused"

# Besides `intr/s` any number of columns: one for each processor, or i000/s … for each interrupt of one processor.
INTERRUPTS = Section("-I", "interrupts", ("INTR",), "interrupt", columns_of("interrupts", "intr/s=interrupts_per_s"))
SECTIONS: tuple[Section, ...] = (
    Section("-u", "cpu", ("CPU",), "cpu", columns_of("cpu", _CPU)),
    Section("-q", "load", columns=columns_of("load", _QUEUE)),
    # Up to version 9, -r printed memory and swap space in one line.
    Section("-r", "memory", columns=columns_of("memory", f"{_RAM} {_SWAP}")),
    Section("-S", "memory", columns=columns_of("memory", _SWAP)),
    Section("-d", "disks", ("DEV",), "device", columns_of("disks", _DISK) | counters_of("sect/s blks/s")),
    Section("-n DEV", "network", ("IFACE",), "interface", columns_of("network", _DEV)),
    Section("-n EDEV", "network", ("IFACE",), "interface", columns_of("network", _EDEV)),
    Section("-n TCP", "tcp", columns=columns_of("tcp", _TCP)),
    Section("-n ETCP", "tcp", columns=columns_of("tcp", _ETCP)),
    Section("-n SOCK", "sockets", columns=columns_of("sockets", _SOCK)),
    Section("-n SOCK6", "sockets", columns=columns_of("sockets", _SOCK6)),
    INTERRUPTS,
    Section("-w", columns=counters_of("proc/s cswch/s")),
    Section("-W", columns=counters_of("pswpin/s pswpout/s")),
    Section("-B", columns=counters_of(
        "pgpgin/s pgpgout/s fault/s majflt/s pgfree/s pgscank/s pgscand/s pgsteal/s pgprom/s pgdem/s %vmeff "
        "activepg inadtypg inaclnpg inatarpg"
    )),
    Section("-b", columns=counters_of("tps rtps wtps dtps bread/s bwrtn/s bdscd/s")),
    Section("-R", columns=counters_of("frmpg/s shmpg/s bufpg/s campg/s")),
    Section("-H", columns=counters_of("kbhugfree kbhugused %hugused kbhugrsvd kbhugsurp")),
    Section("-v", columns=counters_of(
        "dentunusd file-nr inode-nr pty-nr file-sz %file-sz inode-sz super-sz %super-sz dquot-sz %dquot-sz "
        "rtsig-sz %rtsig-sz"
    )),
    Section("-y", items=("TTY",), columns=counters_of("rcvin/s xmtin/s txmtin/s framerr/s prtyerr/s brk/s ovrun/s")),
    Section("-F", items=("FILESYSTEM",), columns=counters_of(_FILESYSTEM)),
    Section("-F MOUNT", items=("MOUNTPOINT",), columns=counters_of(_FILESYSTEM)),
    Section("-q CPU", columns=counters_of("%scpu-10 %scpu-60 %scpu-300 %scpu")),
    Section("-q IO", columns=counters_of("%sio-10 %sio-60 %sio-300 %sio %fio-10 %fio-60 %fio-300 %fio")),
    Section("-q MEM", columns=counters_of("%smem-10 %smem-60 %smem-300 %smem %fmem-10 %fmem-60 %fmem-300 %fmem")),
    Section("-m CPU", items=("CPU",), columns=counters_of("MHz")),
    Section("-m FREQ", items=("CPU",), columns=counters_of("wghMHz")),
    Section("-m FAN", items=("FAN",), columns=counters_of("rpm drpm"), texts=("DEVICE",)),
    Section("-m TEMP", items=("TEMP",), columns=counters_of("degC %temp"), texts=("DEVICE",)),
    Section("-m IN", items=("IN",), columns=counters_of("inV %in"), texts=("DEVICE",)),
    Section("-m BAT", items=("BAT",), columns=counters_of("%cap cap/min"), texts=("status",)),
    Section(
        "-m USB", items=("BUS",), columns=counters_of("maxpower"), texts=("idvendor", "idprod", "manufact", "product"),
    ),
    Section("-n NFS", columns=counters_of("call/s retrans/s read/s write/s access/s getatt/s")),
    Section("-n NFSD", columns=counters_of(
        "scall/s badcall/s packet/s udp/s tcp/s hit/s miss/s sread/s swrite/s saccess/s sgetatt/s"
    )),
    Section("-n IP", columns=counters_of("irec/s fwddgm/s idel/s orq/s asmrq/s asmok/s fragok/s fragcrt/s")),
    Section("-n EIP", columns=counters_of("ihdrerr/s iadrerr/s iukwnpr/s idisc/s odisc/s onort/s asmf/s fragf/s")),
    Section("-n ICMP", columns=counters_of(
        "imsg/s omsg/s iech/s iechr/s oech/s oechr/s itm/s itmr/s otm/s otmr/s iadrmk/s iadrmkr/s oadrmk/s oadrmkr/s"
    )),
    Section("-n EICMP", columns=counters_of(
        "ierr/s oerr/s idstunr/s odstunr/s itmex/s otmex/s iparmpb/s oparmpb/s isrcq/s osrcq/s iredir/s oredir/s"
    )),
    Section("-n UDP", columns=counters_of("idgm/s odgm/s noport/s idgmerr/s")),
    Section("-n IP6", columns=counters_of(
        "irec6/s fwddgm6/s idel6/s orq6/s asmrq6/s asmok6/s imcpck6/s omcpck6/s fragok6/s fragcr6/s"
    )),
    Section("-n EIP6", columns=counters_of(
        "ihdrer6/s iadrer6/s iukwnp6/s i2big6/s idisc6/s odisc6/s inort6/s onort6/s asmf6/s fragf6/s itrpck6/s"
    )),
    Section("-n ICMP6", columns=counters_of(
        "imsg6/s omsg6/s iech6/s iechr6/s oechr6/s igmbq6/s igmbr6/s ogmbr6/s igmbrd6/s ogmbrd6/s irtsol6/s ortsol6/s "
        "irtad6/s inbsol6/s onbsol6/s inbad6/s onbad6/s"
    )),
    Section("-n EICMP6", columns=counters_of(
        "ierr6/s idtunr6/s odtunr6/s itmex6/s otmex6/s iprmpb6/s oprmpb6/s iredir6/s oredir6/s ipck2b6/s opck2b6/s"
    )),
    Section("-n UDP6", columns=counters_of("idgm6/s odgm6/s noport6/s idgmer6/s")),
    Section("-n FC", items=("FCHOST",), columns=counters_of("fch_rxf/s fch_txf/s fch_rxw/s fch_txw/s")),
    Section("-n SOFT", items=("CPU",), columns=counters_of("total/s dropd/s squeezd/s rx_rps/s flw_lim/s blg_len")),
    # Processes, up to version 7; -x is something else from 12.7 on.
    Section("-x", items=("PID",), columns=counters_of("minflt/s majflt/s %user %system nswap/s CPU")),
    Section("-X", items=("PPID",), columns=counters_of("cminflt/s cmajflt/s %cuser %csystem cnswap/s")),
    Section("-x SUM", columns=counters_of("minflt/s majflt/s")),
)  # fmt: skip
ITEMS = frozenset(name for section in SECTIONS for name in section.items)
"""Printed columns that name what a row is about."""


def section_of(header: Sequence[str]) -> Section:
    """Return the section that has most of a header's columns; a section without a name if none has any.

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
