"""The forms of sysstat and vmstat."""

from loadcurve.ingest.ending import JSON, Ending
from loadcurve.ingest.form import Form

# Rows whose last number has its two decimals; one that lacks columns is found by its parser.
_TWO_DECIMALS = Ending(r".*[0-9][.,][0-9]{2}")

FORMS = (
    Form(
        "sadf", "", "sysstat.sadf:parse_sadf",
        (
            r"#? ?hostname;interval;timestamp",
            r"[^;\s]+;-1;[^;\n]{9,40};(?:LINUX-RESTART|COM )",
        ),
        takes=("timezone",),
        ending=_TWO_DECIMALS,
    ),
    Form(
        "sadf", "p", "sysstat.sadf_p:parse_sadf_p",
        (
            r"\S{1,255}[ \t]+-?[0-9]{1,10}[ \t]+(?:[0-9]{4}-[0-9]{2}-[0-9]{2}[ \t][0-9:]{8}(?: \S{2,5})?"
            r"|[0-9]{9,11})[ \t]+(?:\S+[ \t]+(?:[%\w/.-]+)[ \t]+-?[0-9.,]+$|LINUX-RESTART|COM )",
        ),
        takes=("timezone",),
        ending=_TWO_DECIMALS,
    ),
    Form(
        "sadf", "json", "sysstat.sadf_json:parse_sadf_json",
        (
            r'\{\s*\"sysstat\"\s*:\s*\{(?=[\s\S]{0,2000}?\"file-date\")',
        ),
        takes=("timezone",),
        ending=JSON,
    ),
    Form(
        "sadf", "xml", "sysstat.sadf_xml:parse_sadf_xml",
        (
            r"(?:<\?xml [^>\n]*\?>\s*)?(?:<!DOCTYPE sysstat|<sysstat[\s>])",
        ),
        commas=True,
        takes=("timezone",),
        ending=Ending(r"</sysstat>"),
    ),
    Form(
        "sadf", "header", "sysstat.sadf_header:parse_sadf_header",
        (
            r"System activity data file: ",
        ),
        takes=("timezone",),
    ),
    Form(
        "sadf", "raw", "sysstat.sadf_header:refuse_sadf",
        (
            r"[0-9:]{8}(?: [A-Z]{2,5})?; \S+; ",
            r"<\?xml [^>\n]*\?>\s*<!DOCTYPE svg[^>]*>\s*<svg[^>]*>\s*<text[^>]*>Linux ",
        ),
        commas=True,
    ),
    Form(
        "mpstat", "", "sysstat.mpstat:parse_mpstat",
        (
            r"(?:Linux +\S+ +\([^)\n]*\)[^\n]*\n\s*)?(?![#>*%;-][ \t])\S[^\n]{0,24}?[ \t](?:CPU|NODE)"
            r"[ \t]+(?:CORE[ \t]+SOCK[ \t]+NODE[ \t]+)?(?:%us(?:er|r)[ \t]+%nice[ \t]+%sys(?:tem)?"
            r"[ \t]+(?:(?:%iowait[ \t]+)?%idle[ \t]+intr/s|%iowait[ \t]+%irq[ \t])|intr/s[ \t]*$|(?:[0-9]+|HI"
            r"|NMI)/s[ \t])",
        ),
        takes=("timezone",),
        ending=_TWO_DECIMALS,
    ),
    Form(
        "mpstat", "json", "sysstat.mpstat_json:parse_mpstat_json",
        (
            r'\{\s*\"sysstat\"\s*:\s*\{(?![\s\S]{0,2000}?\"file-date\")(?=[\s\S]{0,2000}?\"(?:cpu-load'
            r'|node-load|(?:sum|individual|soft)-interrupts)\")',
        ),
        takes=("timezone",),
        ending=JSON,
    ),
    Form(
        "pidstat", "", "sysstat.pidstat:parse_pidstat",
        (
            r"(?:Linux +\S+ +\([^)\n]*\)[^\n]*\n\s*)?(?:#[ \t]*Time|(?![#>*%;-][ \t])\S[^\n]{0,24}?)"
            r"[ \t]+(?:UID|USER|PID|TGID)[ \t][^\n]*[ \t]Command[ \t]*$",
        ),
        takes=("timezone",),
    ),
    Form(
        "pidstat", "json", "sysstat.pidstat_json:parse_pidstat_json",
        (
            r'\{\s*\"sysstat\"\s*:\s*\{(?![\s\S]{0,2000}?\"file-date\")(?=[\s\S]{0,2000}?\"(?:PID|pid|TGID|tgid)\"\s*:)',
        ),
        takes=("timezone",),
    ),
    Form(
        "iostat", "", "sysstat.iostat:parse_iostat",
        (
            r"(?:Linux +\S+ +\([^)\n]*\)[^\n]*\n\s*(?:[^\n]{1,60}\n\s*)?)?(?:[^\W\d][^\s:：]{0,19}[:：][ \t]+%user[ \t]"
            r"|(?:Device|Filesystem):?[ \t]+(?:tps|r/s|rrqm/s|rsec/s|r(?:Blk|kB|MB)_nor/s)[ \t]"
            r"|[^\W\d][^\s:：]{0,19}[:：]?[ \t]+(?:tps[ \t]+(?:Blk|kB|MB|sec)[_/]|(?:r/s|rrqm/s|rsec/s)[ \t])"
            r"|(?:tps|r/s|rrqm/s)[ \t][^\n]*[ \t]Device[ \t]*$)",
        ),
        takes=("timezone",),
        ending=_TWO_DECIMALS,
    ),
    Form(
        "iostat", "json", "sysstat.iostat_json:parse_iostat_json",
        (
            r'\{\s*\"sysstat\"\s*:\s*\{(?=[\s\S]{0,2000}?\"(?:avg-cpu|disk)\")(?![\s\S]{0,2000}?\"file-date\")',
        ),
        takes=("timezone",),
        ending=JSON,
    ),
    Form(
        "vmstat", "statistics", "sysstat.vmstat:parse_vmstat_statistics",
        (
            r"[0-9]+ [kKmM] total memory[ \t]*$",
        ),
    ),
    Form(
        "vmstat", "", "sysstat.vmstat:parse_vmstat",
        (
            r"(?:-+time-+ +)?-*procs-*[ -]+memory[ -]",
            r"r +b +(?:w +)?swpd +free ",
            r"disk- -+reads-",
        ),
        takes=("timezone",),
    ),
    Form(
        "sar", "", "sysstat.sar:parse_sar",
        (
            r"Linux +\S+ +\([^)\n]*\)[ \t]",
            # A line quoted with "> " is left to the search without prefixes.
            r"(?![#>*%;-][ \t])\S[^\n]{0,30}?[ \t](?:CPU[ \t]+(?:%user[ \t]+%nice[ \t]+%system[ \t]+(?:%idle"
            r"|%iowait[ \t]+(?:%steal|%idle[ \t]*$))|%usr[ \t]+%nice[ \t]+%sys(?:tem)?"
            r"[ \t]+%iowait[ \t]+%steal|MHz|wghMHz|i[0-9]{3}/s|total/s[ \t])|(?:IFACE[ \t]+)?rx(?:pck|err)"
            r"/s[ \t]|(?:DEV[ \t]+)?tps[ \t]+(?:rtps|rkB/s|rd_sec/s|sect/s)|INTR[ \t]+(?:intr/s|all)|(?:proc"
            r"|cswch|frmpg)/s(?:[ \t]|$)|pswpin/s[ \t]|pgpgin/s[ \t]|kbmemfree[ \t]|kbswpfree[ \t]"
            r"|kbhugfree[ \t]|runq-sz[ \t]|%s(?:cpu|io|mem)-10[ \t]|dentunusd[ \t]|TTY[ \t]+rcvin/s|(?:active"
            r"|atmptf|irec|ihdrerr|imsg|ierr)/s[ \t]|(?:totsck|tcp6sck)[ \t]|s?call/s[ \t]|idgm6?/s[ \t]"
            r"|MBfsfree[ \t]|(?:FCHOST[ \t]+)?fch_rxf/s|LINUX RESTART)",
            r"(?:SunOS|AIX|HP-UX|Darwin) [^\n]{1,100}? [0-9]{2}/[0-9]{2}/[0-9]{2,4}[ \t]*$",
            r"(?:\S+: )?Cannot open \S*/sa[r0-9]\S*: ",
            r"Requested activities not available",
            r"Invalid system activity file",
            r"Usage: sar ",
            r"(?:-?\w+: )?(?:line [0-9]+: )?sar: command not found",
        ),
        takes=("timezone",),
        ending=_TWO_DECIMALS,
    ),
)  # fmt: skip
