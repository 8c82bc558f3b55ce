"""Every heading of every version of sysstat and vmstat: no quantity without its unit, no day, word or name lost."""

import gettext
import math
import re
from itertools import pairwise
from pathlib import Path

import pytest
from one_test import in_one_test

from loadcurve.errors import ParseError
from loadcurve.ingest.sniff import parse
from loadcurve.ingest.sysstat.labels import word_of
from loadcurve.ingest.sysstat.sar import parse_sar

HEADING = "Linux 6.1.0 (vm) \t11/20/26 \t_x86_64_\t(2 CPU)\n\n"

# Printed unit, in SI: names of `man sar`, `man iostat`, `man mpstat`, `man pidstat` and `man vmstat`.
KIB, SECTOR = 1024.0, 512.0
# Columns of sar by version.  4.0 and 5.0: printf of sar.c; 12.6: the headers that the program holds; 12.7: its manual.
SAR = {
    "4.0": """proc/s|cswch/s|CPU %user %nice %system %idle|INTR intr/s|CPU i000/s i014/s
        pgpgin/s pgpgout/s activepg inadtypg inaclnpg inatarpg|pswpin/s pswpout/s|tps rtps wtps bread/s bwrtn/s
        frmpg/s shmpg/s bufpg/s campg/s|PID minflt/s majflt/s %user %system nswap/s CPU
        PPID cminflt/s cmajflt/s %cuser %csystem cnswap/s|minflt/s majflt/s|TTY rcvin/s xmtin/s
        kbmemfree kbmemused %memused kbmemshrd kbbuffers kbcached kbswpfree kbswpused %swpused
        dentunusd file-sz %file-sz inode-sz super-sz %super-sz dquot-sz %dquot-sz rtsig-sz %rtsig-sz
        IFACE rxpck/s txpck/s rxbyt/s txbyt/s rxcmp/s txcmp/s rxmcst/s|totsck tcpsck udpsck rawsck ip-frag
        IFACE rxerr/s txerr/s coll/s rxdrop/s txdrop/s txcarr/s rxfram/s rxfifo/s txfifo/s|DEV tps blks/s
        runq-sz plist-sz ldavg-1 ldavg-5""",
    "5.0": """CPU %user %nice %system %iowait %idle|pgpgin/s pgpgout/s fault/s majflt/s|frmpg/s bufpg/s campg/s
        TTY rcvin/s xmtin/s framerr/s prtyerr/s brk/s ovrun/s|DEV tps sect/s
        DEV tps rd_sec/s wr_sec/s avgrq-sz avgqu-sz await svctm %util
        call/s retrans/s read/s write/s access/s getatt/s
        scall/s badcall/s packet/s udp/s tcp/s hit/s miss/s sread/s swrite/s saccess/s sgetatt/s
        kbmemfree kbmemused %memused kbbuffers kbcached kbswpfree kbswpused %swpused kbswpcad
        dentunusd file-sz inode-sz super-sz %super-sz dquot-sz %dquot-sz rtsig-sz %rtsig-sz
        runq-sz plist-sz ldavg-1 ldavg-5 ldavg-15""",
    "12.6": """CPU %user %nice %system %iowait %steal %idle|proc/s cswch/s|INTR intr/s|CPU MHz|CPU wghMHz
        CPU %usr %nice %sys %iowait %steal %irq %soft %guest %gnice %idle|FAN rpm drpm DEVICE|TEMP degC %temp DEVICE
        IN inV %in DEVICE|%scpu-10 %scpu-60 %scpu-300 %scpu
        pgpgin/s pgpgout/s fault/s majflt/s pgfree/s pgscank/s pgscand/s pgsteal/s %vmeff
        tps rtps wtps dtps bread/s bwrtn/s bdscd/s|dentunusd file-nr inode-nr pty-nr
        kbmemfree kbavail kbmemused %memused kbbuffers kbcached kbcommit %commit kbactive kbinact kbdirty
        kbmemfree kbavail kbmemused %memused kbbuffers kbcached kbcommit %commit kbactive kbinact kbdirty kbanonpg \
        kbslab kbkstack kbpgtbl kbvmused
        kbswpfree kbswpused %swpused kbswpcad %swpcad|kbhugfree kbhugused %hugused kbhugrsvd kbhugsurp
        runq-sz plist-sz ldavg-1 ldavg-5 ldavg-15 blocked|DEV tps rkB/s wkB/s dkB/s areq-sz aqu-sz await %util
        IFACE rxpck/s txpck/s rxkB/s txkB/s rxcmp/s txcmp/s rxmcst/s %ifutil
        totsck tcpsck udpsck rawsck ip-frag tcp-tw|tcp6sck udp6sck raw6sck ip6-frag
        irec/s fwddgm/s idel/s orq/s asmrq/s asmok/s fragok/s fragcrt/s|active/s passive/s iseg/s oseg/s
        ihdrerr/s iadrerr/s iukwnpr/s idisc/s odisc/s onort/s asmf/s fragf/s|idgm/s odgm/s noport/s idgmerr/s
        imsg/s omsg/s iech/s iechr/s oech/s oechr/s itm/s itmr/s otm/s otmr/s iadrmk/s iadrmkr/s oadrmk/s oadrmkr/s
        ierr/s oerr/s idstunr/s odstunr/s itmex/s otmex/s iparmpb/s oparmpb/s isrcq/s osrcq/s iredir/s oredir/s
        atmptf/s estres/s retrans/s isegerr/s orsts/s|idgm6/s odgm6/s noport6/s idgmer6/s
        irec6/s fwddgm6/s idel6/s orq6/s asmrq6/s asmok6/s imcpck6/s omcpck6/s fragok6/s fragcr6/s
        ihdrer6/s iadrer6/s iukwnp6/s i2big6/s idisc6/s odisc6/s inort6/s onort6/s asmf6/s fragf6/s itrpck6/s
        imsg6/s omsg6/s iech6/s iechr6/s oechr6/s igmbq6/s igmbr6/s ogmbr6/s igmbrd6/s ogmbrd6/s irtsol6/s \
        ortsol6/s irtad6/s inbsol6/s onbsol6/s inbad6/s onbad6/s
        ierr6/s idtunr6/s odtunr6/s itmex6/s otmex6/s iprmpb6/s oprmpb6/s iredir6/s oredir6/s ipck2b6/s opck2b6/s
        FCHOST fch_rxf/s fch_txf/s fch_rxw/s fch_txw/s|CPU total/s dropd/s squeezd/s rx_rps/s flw_lim/s blg_len
        FILESYSTEM MBfsfree MBfsused %fsused %ufsused Ifree Iused %Iused
        MOUNTPOINT MBfsfree MBfsused %fsused %ufsused Ifree Iused %Iused
        %sio-10 %sio-60 %sio-300 %sio %fio-10 %fio-60 %fio-300 %fio
        %smem-10 %smem-60 %smem-300 %smem %fmem-10 %fmem-60 %fmem-300 %fmem""",
    "12.7": """INTR all CPU0 CPU1|atmptf/s estres/s retrseg/s isegerr/s orsts/s|BAT %cap cap/min status
        pgpgin/s pgpgout/s fault/s majflt/s pgfree/s pgscank/s pgscand/s pgsteal/s pgprom/s pgdem/s
        kbmemfree kbavail kbmemused %memused kbbuffers kbcached kbcommit %commit kbactive kbinact kbdirty kbshmem""",
}  # fmt: skip
IOSTAT = {
    "4.0": """tps Blk_read/s Blk_wrtn/s Blk_read Blk_wrtn
        rrqm/s wrqm/s r/s w/s rsec/s wsec/s avgrq-sz avgqu-sz await svctm %util
        rrqm/s wrqm/s r/s w/s rsec/s wsec/s avgrq-sz avgqu-sz await r_await w_await svctm %util""",
    "7.1": """tps MB_read/s MB_wrtn/s MB_read MB_wrtn|tps kB_read/s kB_wrtn/s kB_read kB_wrtn
        rrqm/s wrqm/s r/s w/s rkB/s wkB/s avgrq-sz avgqu-sz await svctm %util
        rBlk_nor/s wBlk_nor/s rBlk_dir/s wBlk_dir/s rBlk_svr/s wBlk_svr/s ops/s rops/s wops/s
        rkB_nor/s wkB_nor/s rkB_dir/s wkB_dir/s rkB_svr/s wkB_svr/s ops/s rops/s wops/s
        rMB_nor/s wMB_nor/s rMB_dir/s wMB_dir/s rMB_svr/s wMB_svr/s ops/s rops/s wops/s""",
    "12.6": """tps kB/s rqm/s await areq-sz aqu-sz %util|tps sec/s rqm/s await areq-sz aqu-sz %util
        tps MB/s rqm/s await areq-sz aqu-sz %util|tps kB_read/s kB_w+d/s kB_read kB_w+d
        tps Blk_read/s Blk_w+d/s Blk_read Blk_w+d|tps MB_read/s MB_w+d/s MB_read MB_w+d
        tps kB_read/s kB_wrtn/s kB_dscd/s kB_read kB_wrtn kB_dscd
        r/s rkB/s rrqm/s %rrqm r_await rareq-sz w/s wkB/s wrqm/s %wrqm w_await wareq-sz d/s dkB/s drqm/s %drqm \
        d_await dareq-sz f/s f_await aqu-sz %util
        r/s rMB/s rrqm/s %rrqm r_await rareq-sz w/s wMB/s wrqm/s %wrqm w_await wareq-sz d/s dMB/s drqm/s %drqm \
        d_await dareq-sz f/s f_await aqu-sz %util""",
}  # fmt: skip
PIDSTAT = """
    UID PID %usr %system %guest %wait %CPU CPU|PID %user %system %CPU CPU|UID PID minflt/s majflt/s VSZ RSS %MEM
    UID PID kB_rd/s kB_wr/s kB_ccwr/s iodelay|UID PID cswch/s nvcswch/s|UID PID StkSize StkRef|UID PID threads fd-nr
    UID PID prio policy|UID PID usr-ms system-ms guest-ms|UID PID minflt-nr majflt-nr"""

# What one printed unit is in SI; every name must be in exactly one set, or begin or end as said below.
ITEMS = {"CPU", "INTR", "PID", "PPID", "UID", "TTY", "DEV", "IFACE", "FAN", "TEMP", "IN", "BAT", "FCHOST",
         "FILESYSTEM", "MOUNTPOINT"}  # fmt: skip
WORDS = {"DEVICE", "status", "policy", "prio"}
COUNTS = {  # dimensionless
    "dentunusd", "file-sz", "inode-sz", "super-sz", "dquot-sz", "rtsig-sz", "file-nr", "inode-nr", "pty-nr", "totsck",
    "tcpsck", "udpsck", "rawsck", "ip-frag", "tcp-tw", "tcp6sck", "udp6sck", "raw6sck", "ip6-frag", "runq-sz",
    "plist-sz", "ldavg-1", "ldavg-5", "ldavg-15", "blocked", "avgqu-sz", "aqu-sz", "Ifree", "Iused", "blg_len",
    "threads", "fd-nr", "iodelay", "minflt-nr", "majflt-nr", "activepg", "inadtypg", "inaclnpg", "inatarpg",
}  # fmt: skip
SI = {
    **dict.fromkeys(("pgpgin/s", "pgpgout/s"), ("bytes_per_s", KIB)),
    **dict.fromkeys(("sect/s", "blks/s", "sec/s", "rsec/s", "wsec/s", "rd_sec/s", "wr_sec/s", "bread/s", "bwrtn/s",
                     "bdscd/s", "Blk_read/s", "Blk_wrtn/s", "Blk_w+d/s"), ("bytes_per_s", SECTOR)),
    **dict.fromkeys(("Blk_read", "Blk_wrtn", "Blk_w+d", "avgrq-sz"), ("bytes", SECTOR)),
    **dict.fromkeys(("areq-sz", "rareq-sz", "wareq-sz", "dareq-sz", "VSZ", "RSS", "StkSize", "StkRef"), ("bytes", KIB)),
    **dict.fromkeys(("await", "r_await", "w_await", "d_await", "f_await", "svctm", "usr-ms", "system-ms", "guest-ms"),
                    ("s", 1e-3)),
    **dict.fromkeys(("rxbyt/s", "txbyt/s"), ("bytes_per_s", 1.0)),
    **dict.fromkeys(("tps", "rtps", "wtps", "dtps", "all", "CPU0", "CPU1"), ("per_s", 1.0)),
    **dict.fromkeys(("rpm", "drpm"), ("per_s", 1 / 60)),
    "MHz": ("Hz", 1e6), "wghMHz": ("Hz", 1e6), "degC": ("degC", 1.0), "inV": ("V", 1.0), "cap/min": ("per_s", 1 / 6000),
}  # fmt: skip


def si_of(name):
    """Unit and size of what is printed as 1."""
    if name in COUNTS:
        return "", 1.0
    if name in SI:
        return SI[name]
    size = 1024 * KIB if "MB" in name else KIB if "kb" in name.lower() else SECTOR if "Blk" in name else None
    if name.startswith("%"):
        return "ratio", 0.01
    if size:
        return ("bytes_per_s" if name.endswith("/s") else "bytes"), size
    assert name.endswith("/s"), f"{name} is in no list: add its unit"
    return "per_s", 1.0


def lines_of(text):
    return [line.split() for line in text.replace("|", "\n").split("\n") if line.strip()]


def found_in(tables):
    """Every number by its unit, from tables that have one row, or one row for each number."""
    found = []
    for name, table in tables.items():
        if name in ("counters", "averages"):
            found += list(zip(table.unit.fillna(""), table.value.tolist(), strict=True))
            continue
        for column in table:
            if table[column].dtype.kind in "fi" or str(table[column].dtype) in ("Int64", "Float64"):
                ends = ("_bytes_per_s", "_per_s", "_pps", "_bytes", "_ratio", "_s")
                unit = next((end[1:] for end in ends if column.endswith(end)), "")
                found += [("per_s" if unit == "pps" else unit, value) for value in table[column].tolist()]
    return sorted((unit, value) for unit, value in found if not math.isnan(value))


def cell_of(name, value="1"):
    """Print one unit as the tools print it: counts and sizes whole, everything else with two decimals."""
    if name in ITEMS:
        return "1" if name in ("CPU", "TTY", "PID", "PPID", "UID", "FAN", "TEMP", "IN", "BAT") else "name0"
    if name in WORDS:
        return {"prio": "99", "policy": "NORMAL"}.get(name, "word")
    unit, _ = si_of(name)
    whole = unit in ("", "bytes") and not name.startswith("ldavg")
    return value if whole or name.endswith("-ms") else f"{value}.00"


@in_one_test(("version", "columns"), [(v, c) for v, text in SAR.items() for c in lines_of(text)])
def test_sar(version, columns):
    row = " ".join(cell_of(name) for name in columns)
    text = f"{HEADING}10:00:00 {' '.join(columns)}\n10:00:01 {row}\n"
    parsed = parse(text)
    quantities = [name for name in columns if name not in WORDS and name not in ITEMS - {"CPU"}]
    quantities = [name for i, name in enumerate(columns) if name in quantities and not (name == "CPU" and i == 0)]
    expected = sorted(("", 1.0) if name == "CPU" else si_of(name) for name in quantities)
    found = found_in({name: parsed.tables[name] for name in parsed.tables if name != "hosts"})
    assert [unit for unit, _ in found] == [unit for unit, _ in expected]
    assert [value for _, value in found] == pytest.approx([value for _, value in expected])
    assert not [w for w in parsed.warnings if "add up" not in w]


@in_one_test(("version", "columns"), [(v, c) for v, text in IOSTAT.items() for c in lines_of(text)])
@in_one_test("first", ["Device:", "Device", "デバイス:"])
def test_iostat(version, columns, first):
    nfs = any("_nor" in name for name in columns)
    row = " ".join(cell_of(name) for name in columns)
    first = "Filesystem:" if nfs else first
    text = f"{HEADING}{first} {' '.join(columns)}\nsda {row}\n\n"
    parsed = parse(text, "iostat")
    found = found_in({name: parsed.tables[name] for name in parsed.tables if name != "hosts"})
    expected = sorted(si_of(name) for name in columns)
    assert [unit for unit, _ in found] == [unit for unit, _ in expected]
    assert [value for _, value in found] == pytest.approx([value for _, value in expected])
    assert len(parsed.warnings) == 1  # of the first report
    assert parse(text).tool == "iostat"


@in_one_test("columns", lines_of(PIDSTAT))
def test_pidstat(columns):
    row = " ".join(cell_of(name) for name in columns)
    text = f"{HEADING}10:00:00 {' '.join(columns)} Command\n10:00:01 {row} nginx\n\n"
    tables = parse(text).tables
    found = found_in({n: tables[n].drop(columns=["pid"], errors="ignore") for n in tables if n != "hosts"})
    expected = sorted(si_of(name) for name in columns if name not in ITEMS | WORDS)
    assert [unit for unit, _ in found] == [unit for unit, _ in expected]
    assert [value for _, value in found] == pytest.approx([value for _, value in expected])


@pytest.mark.parametrize(
    ("header", "row"),
    [("IFACE newthing/s rxpck/s", "eth0 1.00 1.00"), ("newthing other-sz", "1 1"), ("kbmemfree kbnew", "1 1")],
)
def test_a_column_that_is_not_known_is_named_in_every_form(header, row):
    """sar, sadf -d and iostat: a number in no known unit never goes without a warning."""
    names, cells = header.split(), row.split()
    heading = HEADING
    sadf = f"# hostname;interval;timestamp;{';'.join(names)}\nvm;1;2026-11-20 10:00:01 UTC;{';'.join(cells)}\n"
    iostat = f"{heading}Device: tps {names[-1]} kB_new\nsda 1.00 1.00 1\n\n"
    for text in (f"{heading}10:00:00 {header}\n10:00:01 {row}\n", sadf, iostat):
        assert any("in no known unit" in warning for warning in parse(text, "sadf" if text is sadf else None).warnings)


def document(memory):
    return (
        '{"sysstat": {"hosts": [{"nodename": "vm", "file-date": "2026-11-20", "statistics": [{"timestamp": {"date": '
        f'"2026-11-20", "time": "10:00:01", "utc": 1, "interval": 1}}, "memory": {memory}}}]}}]}}}}'
    )


def test_memory_of_sadf():
    tables = parse(document('{"memfree": 1, "shared": 2, "anonpg": 3, "frmpg": 4.00}')).tables
    memory = tables["memory"].iloc[0]
    assert (memory.free_bytes, memory.shared_bytes, memory.anonymous_bytes) == (1024, 2048, 3072)
    assert tables["counters"][["group", "counter", "value", "unit"]].values.tolist() == [
        ["sar -R", "frmpg/s", 4.0, "per_s"]
    ]
    assert "in no known unit: newthing" in parse(document('{"memfree": 1, "newthing": 2}')).warnings[0]


# ------------------------------------------------------------------ days
def section(columns, clocks, recorded=False):
    row = " ".join(cell_of(name) for name in columns)
    rows = "".join(f"{clock} {row}\n" for clock in clocks[1:])
    return f"\n{clocks[0]} {' '.join(columns)}\n{rows}" + (f"Average: {row}\n" if recorded else "")


@pytest.mark.slow
@in_one_test("clocks", [
    ["23:59:58", "23:59:59", "00:00:00", "00:00:01"],
    ["22:00:00", "08:00:00", "16:00:00", "00:00:00", "08:00:00"],
    ["00:00:01", "12:00:00", "23:59:59", "00:00:00"],
    ["00:00:00", "08:00:00", "16:00:00", "00:00:00"],
])  # fmt: skip
@in_one_test("repeats", [1, 2])
def test_every_heading_counts_its_own_midnights(clocks, repeats):
    """sar -A of a file prints each section from its start to its end, and some headings twice (INTR sum, INTR 14)."""
    headings = [
        columns for text in SAR.values() for columns in lines_of(text) if columns[0] not in ("FAN", "TEMP", "IN", "BAT")
    ]
    days, day = [], 20
    for before, clock in pairwise(clocks):
        day += clock < before
        days.append(f"2026-11-{day} {clock}+00:00")
    text = HEADING + "".join(section(h, clocks, True) for h in headings * repeats)
    tables = parse(text).tables
    for name in set(tables) - {"hosts", "averages"}:
        assert sorted({str(time) for time in tables[name].time}) == days, name
    # Live, all sections come with each interval.
    pairs = list(pairwise(clocks))
    live = HEADING + "".join(section(h, pair) for pair in pairs for h in headings)
    tables = parse(live).tables
    for name in set(tables) - {"hosts"}:
        assert sorted({str(time) for time in tables[name].time}) == days, name


# ------------------------------------------------------------------ words
@in_one_test(("word", "statistic"), [
    ("Average:", "average"), ("Last:", "last"), ("Minimum:", "minimum"), ("Maximum:", "maximum"),
    ("Summary:", "summary"), ("Summary", "summary"), ("Média:", "average"), ("Mínimo:", "minimum"),
    ("最大値:", "maximum"), ("Сярэдняе:", "average"),
    ("საშუალო:", "average"), ("Зводка:", "summary"), ("Trung bình:", "average"), ("Moyenne :", "average"),
])  # fmt: skip
def test_words_before_a_row(word, statistic):
    text = (
        f"Linux 2.6.9 (vm)  01/12/2006\n\n10:00:00 PID minflt/s majflt/s\n10:00:01 7 1.00 2.00\n\n{word} 7 3.00 4.00\n"
    )
    averages = parse(text).tables["averages"]
    assert averages.statistic.tolist() == [statistic] * 2
    assert averages.value.tolist() == [3.0, 4.0]


def test_words_beside_average_do_not_make_an_english_text_foreign():
    text = (
        "Linux 2.4.21 (vm)  01/12/2006\n\n10:00:00       PID  minflt/s  majflt/s     %user   %system   nswap/s   CPU\n"
        "10:00:01      7    1.00     0.00     50.00      25.00     0.00    1\n\n"
        "Average:         PID  minflt/s  majflt/s     %user   %system   nswap/s\n"
        "Average:           7      1.00      0.00     50.00     25.00      0.00\n"
        "Last:              7      2.00      0.00     40.00     20.00      0.00\nOther: 7 2.00 0.00 40.00 20.00 0.00\n"
    )
    parsed = parse(text)
    assert str(parsed.tables["counters"].time[0])[:10] == "2006-01-12"
    assert parsed.tables["averages"].statistic.value_counts().to_dict() == {"average": 10, "last": 5}
    assert any("'Other' is not a known word for an average" in warning for warning in parsed.warnings)
    portuguese = parse(text.replace("Average:", "Média:"))
    assert str(portuguese.tables["counters"].time[0])[:10] == "2006-12-01"


CATALOGUES = sorted(Path("/usr/share/locale").glob("*/LC_MESSAGES/sysstat.mo"))


@pytest.mark.skipif(not CATALOGUES, reason="sysstat is not installed with its translations")
def test_every_catalogue_of_the_installed_sysstat():
    for path in CATALOGUES:
        with path.open("rb") as file:
            words = gettext.GNUTranslations(file)
        for message, statistic in (("Average:", "average"), ("Summary:", "summary")):
            assert word_of(words.gettext(message)).statistic == statistic, path


# ------------------------------------------------------------------ rows that were refused, or read under other columns
USB = "1;1d6b;2;500;Linux 6.12 ehci_hcd;EHCI Host Controller"


@pytest.mark.parametrize(
    "header",
    ["BUS;idvendor;idprod;maxpower;manufact;product", "manufact;product;BUS;idvendor;idprod;maxpower"],  # 10, 12.6
)
@pytest.mark.parametrize("wide", [False, True])
def test_usb_devices_of_sadf(header, wide):
    first, last = "proc/s;cswch/s;" * wide, "[...];runq-sz;plist-sz" * wide
    before, after = "1.00;2.00;" * wide, f";2;8087;20;0;;{';1;2' * wide}" if wide else ""
    row = f"vm;1;2026-11-20 10:00:01 UTC;{before}{USB}{after}"
    text = f"# hostname;interval;timestamp;{first}{header}{last}\n{row}\n"
    counters = parse(text).tables["counters"]
    power = counters[counters.counter == "maxpower"]
    assert power[["item", "value", "unit"]].values.tolist()[0] == ["1", 0.5, "A"]
    assert set(counters.counter) == {"maxpower"} | ({"proc/s", "cswch/s"} if wide else set())


@pytest.mark.parametrize("tab", ["\t", " "])
def test_usb_devices_of_sadf_p(tab):
    cells = [
        ("idvendor", "1d6b"),
        ("idprod", "2"),
        ("maxpower", "500"),
        ("manufact", "Linux 6.12 ehci"),
        ("product", ""),
    ]
    text = "".join(tab.join(["vm", "1", "2026-11-20 10:00:01 UTC", "bus1", *cell]) + "\n" for cell in cells)
    counters = parse(text).tables["counters"]
    assert counters[["group", "counter", "value"]].values.tolist() == [["sar -m USB", "maxpower", 0.5]]


@pytest.mark.parametrize("columns", lines_of(PIDSTAT))
def test_a_pidstat_row_that_lacks_a_field_or_has_one_too_many_is_not_silent(columns):
    cells = [cell_of(name, "7") for name in columns] + ["nginx:", "worker"]
    sizes = {"CPU": "0", "prio": "0", "policy": "NORMAL", "UID": "65534", "PID": "11162"}
    cells = [sizes.get(name, cell) for name, cell in zip([*columns, "", ""], cells, strict=True)]
    for missing in range(len(columns)):
        rows = [
            (columns, cells[:missing] + cells[missing + 1 :]),  # the row lacks a field
            (columns[:missing] + columns[missing + 1 :], cells),  # the heading lacks one
        ]
        for names, row in rows:
            if "PID" not in names or len(names) < 3:
                continue
            text = f"{HEADING}10:00:00 {' '.join(names)} Command\n10:00:01 {' '.join(row)}\n\n"
            try:
                warnings = parse(text, "pidstat").warnings
            except ParseError as error:
                assert error.line in (3, 4), (names, row)
            else:
                assert any("line 4: the command begins with a number" in warning for warning in warnings), (names, row)


# ------------------------------------------------------------------ mail
@pytest.mark.parametrize("width", [60, 72, 76])
@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("name", ["live-24h", "net-sections", "all-cpus"])
def test_rows_that_mail_has_wrapped_are_joined(name, width, half):
    text = (Path(__file__).parents[2] / f"data/sar/{name}.txt").read_text()
    if half:
        text = re.sub(r"^(\d\d)(:\d\d:\d\d) ", lambda m: f"{int(m[1]) % 12 or 12:02}{m[2]} PM ", text, flags=re.M)
    lines = []
    for line in text.split("\n"):
        # A mail program breaks at the last blank before its width and starts the rest in the first column.
        while len(line.rstrip()) > width and not line.startswith("Linux") and " " in line[20:width]:
            cut = line.rindex(" ", 0, width)
            lines.append(line[:cut].rstrip())
            line = line[cut:].strip()
        lines.append(line)
    assert len(lines) > text.count("\n") + 1
    plain, wrapped = parse_sar(text), parse_sar("\n".join(lines))
    assert any("broken in parts, which were joined" in warning for warning in wrapped.warnings)
    for table in plain.tables:
        assert wrapped.tables[table].equals(plain.tables[table]), table
