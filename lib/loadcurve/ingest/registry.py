"""Every form of output that can be read: whose it is, what tells it apart, which function reads it.

To add a tool: one module with a ``parse_*`` function, its line here, one folder of fixtures, one page of the handbook.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from loadcurve.ingest.parsed import Parsed


@dataclass(frozen=True)
class Form:
    r"""One form of a tool's output.

    Attributes
    ----------
    tool, variant : str
        As `run.json` names them, and on the command line ``TOOL`` or ``TOOL:VARIANT``.
    parser : str
        ``module:function`` in `loadcurve.ingest`; imported when it is first needed.
    signature : str
        Pattern that a line of this form begins with and no line of another form, after indentation.  For a whole
        document (JSON, XML, CSV with a header) it begins with ``\A``.
    local_time : bool
        Whether the text holds local times, so that the function takes the name of their zone as `timezone`.
    """

    tool: str
    variant: str
    parser: str
    signature: str
    local_time: bool = False

    @property
    def name(self) -> str:
        """``TOOL`` or ``TOOL:VARIANT``."""
        return f"{self.tool}:{self.variant}" if self.variant else self.tool

    def parse(self, text: str, timezone: str = "UTC") -> Parsed:
        """Parse a text of this form; `clean` has made it plain lines."""
        module, function = self.parser.split(":")
        parser: Callable[..., Parsed] = getattr(import_module(f"loadcurve.ingest.{module}"), function)
        return parser(text, timezone=timezone) if self.local_time else parser(text)


WRK = (
    r"Running \S+ test @|Making [0-9]+ requests to |[0-9]+\s+threads and\s+[0-9]+\s+connections\s*$"
    r"|Thread (?:Stats\s+Avg\s+Stdev\s|calibration: mean lat)|Test Results @ "
    r"|Latency Distribution(?: \(HdrHistogram - .*)?$|Usage: wrk |invalid URL: "
    r"|number of connections must be >= threads|Throughput MUST be specified"
    r"|unable to (?:connect to|resolve) \S+:\S+ [A-Za-z]|unable to create thread [0-9]"
    r"|(?:[\w./-]+: )?(?:line )?(?:[0-9]+: )?(?:[\w./-]*/)?wrk2?: (?:command )?not found"
    r"|zsh: command not found: wrk|PANIC: unprotected error in call to Lua API"
    r"|(?<![\s\S])Killed by signal [0-9]+\.\s*\Z"  # nothing else in the text
)

# The first form whose signature is found first in the text reads it; at the same place, the one further up.
FORMS = (
    # --- load generators
    Form("wrk", "", "wrk:parse_wrk", WRK),  # wrk2's headings are wrk's: what follows them tells the two apart
    Form("wrk2", "", "wrk:parse_wrk2", WRK),
    Form(
        "ab", "", "ab:parse_ab",
        r"This is ApacheBench, Version |Benchmarking \S.*\(be patient\)|Server Software:"
        r"|(?:<tr [^<>\n]*><th [^<>\n]*>)Server Software:|Requests per second:[ \t]+[0-9.]+ \[#/sec\]"
        r"|apr_\w+(?:\(\))?(?: \w[^:\n]*)?: .*\([0-9]+\)[ \t]*$|socket: .*\([0-9]+\)[ \t]*$|Total of [0-9]+ requests completed"
        r"|Completed [0-9]+ requests[ \t]*$|Finished [0-9]+ requests[ \t]*$|Test aborted after 10 failures"
        r"|Usage: \S{0,200}\babs?(?:\.exe)? \[options\]|(?:\S{0,200}/)?abs?(?:\.exe)?: (?:Cannot|could not|[iI]nvalid |wrong |option |illegal )"
        r"|\S{1,80}: command not found: abs?$|\S{1,80}: (?:line [0-9]+: )?abs?: (?:command )?not found|'abs?' is not recognized ",
    ),
    Form("ab", "percentiles", "ab_percentiles:parse_ab_percentiles", r"Percentage served ?, ?Time in ms[ \t]*$"),
    Form("ab", "requests", "ab_requests:parse_ab_requests", r"starttime[ \t]+seconds[ \t]+ctime[ \t]+dtime[ \t]+ttime"),
    Form(
        "h2load", "", "h2load:parse_h2load",
        r"spawning thread #[0-9]+: [0-9]+ (?:total client\(s\)|concurrent clients)|finished in [0-9.]+[mu]?s, \S+ req/s"
        r"|finished in [0-9]+ [^\n]{1,60} req/s, \S+B/s|Usage: h2load |(?:[\w./-]{1,40}: ){1,3}h2load: (?:command )?not found",
    ),
    Form("h2load", "requests", "h2load:parse_h2load_log", r"\A\s*[0-9]{16}\t-?[0-9]{1,3}\t[0-9]{1,12}[ \t]*\n"),
    Form(
        "hey", "", "hey:parse_hey",
        r"Summary:?[ \t]*\n\s*Total:|(?:Response time histogram|Latency distribution|Status code distribution):[ \t]*$"
        r"|Details \(average, fastest, slowest\)|Error distribution:[ \t]*$|Usage: hey |(?:[\w./-]{1,40}: ){1,3}hey: (?:command )?not found",
    ),
    Form("oha", "", "hey:parse_hey", r"Summary:[ \t]*\n\s*Success rate:|Response time distribution:[ \t]*$"),
    Form("ghz", "", "hey:parse_hey", r"Summary:[ \t]*\n\s*(?:Name:[^\n]*\n\s*)?Count:"),
    Form("hey", "requests", "hey_requests:parse_hey_csv", r"response-time,DNS\+dialup,DNS,"),
    Form("oha", "requests", "oha:parse_oha_csv", r"request-start,DNS,DNS\+dialup,"),
    Form(
        "oha", "json", "oha:parse_oha_json",
        r'\A(?:[^{\n]*\n){0,20}\s*\{(?=[\s\S]{0,4000}?"(?:latencyPercentiles|responseTimeHistogram)"\s*:)',
    ),
    Form(
        "vegeta", "", "vegeta:parse_vegeta",
        r"Requests\s+\[total|Duration\s+\[total, attack|Latencies\s+\[m|Bucket\s+#\s+%\s+Histogram"
        r"|Value\(ms\)\s+Percentile\s+TotalCount|Usage: vegeta |(?:[\w./-]{1,40}: ){1,3}vegeta: (?:command )?not found",
    ),
    Form(
        "vegeta", "json", "vegeta_json:parse_vegeta_json",
        r'\A(?:[^{\n]*\n){0,20}\s*\{(?=[\s\S]{0,4000}?"latencies"\s*:\s*\{)',
    ),
    Form(
        "vegeta", "requests-json", "vegeta_requests:parse_vegeta_jsonl",
        r'\A\s*\{(?=[^\n]{0,4000}?"timestamp"\s*:)(?=[^\n]{0,4000}?"latency"\s*:\s*[0-9])',
    ),
    Form(
        "vegeta", "requests", "vegeta_requests:parse_vegeta_csv",
        r"\A\s*[0-9]{19},[0-9]{1,3},[0-9]{1,18},[0-9]{1,18},[0-9]{1,18},",
    ),
    Form(
        "k6", "", "k6:parse_k6",
        r"(?:[✓✗][ \t]{1,9})?(?:http_req(?:s|_[a-z_]+)|data_received|data_sent)\.{2,120}:|█ TOTAL RESULTS"
        r"|execution: (?:local|cloud)[ \t]*$|(?:[\w./-]{1,40}: ){1,3}k6: (?:command )?not found",
    ),
    Form(
        "k6", "json", "k6_json:parse_k6_json",
        r'\A(?:[^{\n]*\n){0,20}\s*\{(?=[\s\S]{0,20000}?"(?:http_reqs"|http_req_|root_group"|testRunDurationMs"))',
    ),
    Form(
        "fortio", "", "fortio:parse_fortio",
        r"Fortio \S+ running at |Ended after \S+ : [0-9]+ calls\.|Aggregated Function Time : count ",
    ),
    Form(
        "fortio", "json", "fortio_json:parse_fortio_json",
        r'\A(?:[^{\n]*\n){0,20}\s*(?:\[\s*)?\{(?=[\s\S]{0,20000}?"DurationHistogram"\s*:)',
    ),
    Form(
        "siege", "", "siege:parse_siege",
        r'Transactions:\s+[0-9]+(?:\s+hits)?|(?:\{\s*)?"transactions":\s|\*\* SIEGE [0-9]|(?:[\w./-]{1,40}: ){1,3}siege: (?:command )?not found',
    ),
    Form(
        "httperf", "", "httperf:parse_httperf",
        r"httperf --|httperf: |Total: connections [0-9]+ requests [0-9]+ replies |Usage: httperf "
        r"|(?:[\w./-]{1,40}: ){1,3}httperf: (?:command )?not found",
    ),
    Form(
        "weighttp", "", "weighttp:parse_weighttp",
        r"weighttp(?: \S+)? - a? ?(?:lightweight|simple)|weighttp <options> |spawning thread #[0-9]+: [0-9]+ concurrent requests"
        r"|finished in [0-9]+ sec,|\{\s*\"reqs_per_sec\"|error: (?:socket|connect|read|write)\(\) failed: "
        r"|error: (?:insane arguments|concur_count|thread_count|num of |could not resolve hostname|no ssl support)",
    ),
    # --- machines
    Form(
        "sadf", "", "sadf:parse_sadf",
        r"#? ?hostname;interval;timestamp|[^;\s]+;-1;[^;\n]{9,40};(?:LINUX-RESTART|COM )", local_time=True,
    ),
    Form(
        "sadf", "p", "sadf_p:parse_sadf_p",
        r"\S{1,255}[ \t]+-?[0-9]{1,10}[ \t]+(?:[0-9]{4}-[0-9]{2}-[0-9]{2}[ \t][0-9:]{8}(?: \S{2,5})?|[0-9]{9,11})"
        r"[ \t]+(?:\S+[ \t]+(?:[%\w/.-]+)[ \t]+-?[0-9.,]+$|LINUX-RESTART|COM )", local_time=True,
    ),
    Form(
        "sadf", "json", "sadf_json:parse_sadf_json",
        r"\{\s*\"sysstat\"\s*:\s*\{(?=[\s\S]{0,2000}?\"file-date\")", local_time=True,
    ),
    Form(
        "sadf", "xml", "sadf_xml:parse_sadf_xml",
        r"(?:<\?xml [^>\n]*\?>\s*)?(?:<!DOCTYPE sysstat|<sysstat[\s>])", local_time=True,
    ),
    Form("sadf", "header", "sadf_header:parse_sadf_header", r"System activity data file: ", local_time=True),
    Form(
        "sadf", "raw", "sadf_header:refuse_sadf",
        r"[0-9:]{8}(?: [A-Z]{2,5})?; \S+; |<\?xml [^>\n]*\?>\s*<!DOCTYPE svg[^>]*>\s*<svg[^>]*>\s*<text[^>]*>Linux ",
    ),
    Form(
        "mpstat", "", "mpstat:parse_mpstat",
        r"(?:Linux +\S+ +\([^)\n]*\)[^\n]*\n\s*)?\S[^\n]{0,24}?[ \t](?:CPU|NODE)[ \t]+(?:CORE[ \t]+SOCK[ \t]+NODE[ \t]+)?"
        r"(?:%us(?:er|r)[ \t]+%nice[ \t]+%sys(?:tem)?[ \t]+(?:(?:%iowait[ \t]+)?%idle[ \t]+intr/s|%iowait[ \t]+%irq[ \t])"
        r"|intr/s[ \t]*$|(?:[0-9]+|HI|NMI)/s[ \t])",
        local_time=True,
    ),
    Form(
        "mpstat", "json", "mpstat_json:parse_mpstat_json",
        r"\{\s*\"sysstat\"\s*:\s*\{(?![\s\S]{0,2000}?\"file-date\")"
        r"(?=[\s\S]{0,2000}?\"(?:cpu-load|node-load|(?:sum|individual|soft)-interrupts)\")", local_time=True,
    ),
    Form(
        "pidstat", "", "pidstat:parse_pidstat",
        r"(?:Linux +\S+ +\([^)\n]*\)[^\n]*\n\s*)?(?:#[ \t]*Time|\S[^\n]{0,24}?)[ \t]+(?:UID|USER|PID|TGID)"
        r"[ \t][^\n]*[ \t]Command[ \t]*$", local_time=True,
    ),
    Form(
        "iostat", "", "iostat:parse_iostat",
        r"(?:Linux +\S+ +\([^)\n]*\)[^\n]*\n\s*(?:[^\n]{1,60}\n\s*)?)?(?:avg-cpu:[ \t]+%user"
        r"|Device:?[ \t]+(?:tps|r/s|rrqm/s|rsec/s)[ \t]|(?:tps|r/s|rrqm/s)[ \t][^\n]*[ \t]Device[ \t]*$)",
        local_time=True,
    ),
    Form(
        "iostat", "json", "iostat_json:parse_iostat_json",
        r"\{\s*\"sysstat\"\s*:\s*\{(?=[\s\S]{0,2000}?\"(?:avg-cpu|disk)\")(?![\s\S]{0,2000}?\"file-date\")",
        local_time=True,
    ),
    Form("vmstat", "statistics", "vmstat:parse_vmstat_statistics", r"[0-9]+ [kKmM] total memory[ \t]*$"),
    Form(
        "vmstat", "", "vmstat:parse_vmstat",
        r"(?:-+time-+ +)?-*procs-*[ -]+memory[ -]|r +b +(?:w +)?swpd +free |disk- -+reads-",
        local_time=True,
    ),
    Form(
        "sar", "", "sar:parse_sar",
        r"Linux +\S+ +\([^)\n]*\)[ \t]"
        # Rows without a heading, under a header row that only sar prints.
        r"|\S[^\n]{0,30}?[ \t](?:CPU[ \t]+(?:%user[ \t]+%nice[ \t]+%system[ \t]+(?:%idle|%iowait[ \t]+(?:%steal|%idle[ \t]*$))"
        r"|%usr[ \t]+%nice[ \t]+%sys(?:tem)?[ \t]+%iowait[ \t]+%steal|MHz|wghMHz|i[0-9]{3}/s|total/s[ \t])"
        r"|(?:IFACE[ \t]+)?rx(?:pck|err)/s[ \t]|(?:DEV[ \t]+)?tps[ \t]+(?:rtps|rkB/s|rd_sec/s|sect/s)|INTR[ \t]+(?:intr/s|all)"
        r"|(?:proc|cswch|frmpg)/s(?:[ \t]|$)|pswpin/s[ \t]|pgpgin/s[ \t]|kbmemfree[ \t]|kbswpfree[ \t]|kbhugfree[ \t]"
        r"|runq-sz[ \t]|%s(?:cpu|io|mem)-10[ \t]|dentunusd[ \t]|TTY[ \t]+rcvin/s|(?:active|atmptf|irec|ihdrerr|imsg|ierr)/s[ \t]"
        r"|(?:totsck|tcp6sck)[ \t]|s?call/s[ \t]|idgm6?/s[ \t]|MBfsfree[ \t]|(?:FCHOST[ \t]+)?fch_rxf/s|LINUX RESTART)"
        r"|(?:SunOS|AIX|HP-UX|Darwin) [^\n]{1,100}? [0-9]{2}/[0-9]{2}/[0-9]{2,4}[ \t]*$"
        r"|(?:\S+: )?Cannot open \S*/sa[r0-9]\S*: |Requested activities not available|Invalid system activity file"
        r"|Usage: sar |(?:-?\w+: )?(?:line [0-9]+: )?sar: command not found",
        local_time=True,
    ),
    # --- sockets
    Form(
        "ss", "summary", "ss:parse_ss",
        r"Total:[ \t]+[0-9]+(?:[ \t]+\(kernel[ \t]+[0-9]+\))?[ \t]*$|TCP:[ \t]+[0-9]+[ \t]+\(estab[ \t]",
        local_time=True,
    ),
    Form(
        "ss", "connections", "ss:parse_ss",
        r"(?:Netid[ \t]*)?(?:State[ \t]*)?(?:Recv-Q[ \t]*Send-Q[ \t]*)?Local Address[ \t]*:[ \t]*Port[ \t]*Peer Address[ \t]*:"
        r"|(?:(?:tcp|udp|raw|mptcp|sctp|dccp|icmp6|u_str|u_dgr|u_seq|nl|p_raw|p_dgr|v_str|v_dgr|xdp|ti_..)[ \t]+)?"
        r"(?:ESTAB|LISTEN|UNCONN|TIME-WAIT|CLOSE-WAIT|LAST-ACK|CLOSING|FIN-WAIT-[12]|SYN-SENT|SYN-RECV)"
        r"[ \t]+-?[0-9]+[ \t]+-?[0-9]+[ \t]+\S"
        r"|[0-9]+[ \t]+[0-9]+[ \t]+\S+:(?:[0-9]+|\*|[a-z][\w-]*)[ \t]+\S+:(?:[0-9]+|\*|[a-z][\w-]*)(?=[ \t]|$)"
        r"|(?:[^\s:]+: ){0,3}(?:line [0-9]+: |[0-9]+: )?(?:\S*/)?ss: (?:command )?not found|(?:\S+: )?command not found: ss$"
        r"|ss: (?=[a-zA-Z])|Usage: ss \[|Cannot open netlink socket: ",
        local_time=True,
    ),
    # --- balancers and servers
    Form(
        "proc", "ip_vs", "ipvsadm:parse_ipvsadm",
        r"IP Virtual Server version [^\n]*\n\s*Prot LocalAddress:Port Scheduler Flags\s*\n"
        r"\s*-> RemoteAddress:Port Forward Weight ActiveConn InActConn[ \t]*\n"
        r"\s*(?:(?:TCP|UDP|SCTP)\s+(?:[0-9A-F]{8}|\[(?:[0-9a-f]{4}:){7}[0-9a-f]{4}\]):[0-9A-F]{4}\s|FWM\s+[0-9A-F]{8}\s)",
        local_time=True,
    ),
    Form("proc", "ip_vs_conn", "ipvsadm:parse_ipvsadm", r"Pro\s+FromIP\s+FPrt\s+ToIP\s", local_time=True),
    Form(
        "proc", "ip_vs_stats", "ip_vs_stats:parse_ip_vs_stats",
        r"Total\s+Incoming\s+Outgoing\s+Incoming\s+Outgoing", local_time=True,
    ),
    Form(
        "ipvsadm", "", "ipvsadm:parse_ipvsadm",
        r"IP Virtual Server version |Prot\s+LocalAddress:Port\s|-(?:>|&gt;)\s*RemoteAddress:Port\s"
        r"|IPVS connection entries|pro\s+expire\s+state\s+source\s|VIP:VPORT\s+TOTAL\s"
        r"|(?:TCP|UDP|SCTP|IP)[ \t]+[0-9]{2,9}:[0-9]{2}[ \t]+[A-Z_]{3,12}[ \t]+\S{1,99}:\w{1,40}[ \t]"
        r"|\[[0-9]{1,3}\](?:tcp|udp|icmp|--)[ \t]+[0-9]{1,9}s[ \t]"
        r"|(?:TCP|UDP|SCTP)[ \t]+\S{1,99}:\w{1,40}[ \t]+(?:w?rr|w?lc|lblcr?|[dsm]h|sed|nq|fo|ovf|twos|conhash)\s"
        r"|-(?:>|&gt;)[ \t]*\S{1,99}[ \t]+(?:Route|Masq|Tunnel|Local|FullNat|SNAT)[ \t]+[0-9]"
        r"|-[Aa] (?:-[tufq]|--(?:tcp|udp|sctp|fwmark)-service) \S{1,99} (?:-6 )?-[sr] "
        r"|Timeout \(tcp tcpfin udp\)|(?:master|backup) sync daemon \(mcast="
        r"|Can't initialize ipvs|(?:\S*sh: (?:line [0-9]+: )?|sudo: )?ipvsadm: |Illegal '[\w-]+' option with the '"
        r"|cannot open file /proc/net/ip_vs|cat: /proc/net/ip_vs",
        local_time=True,
    ),
    Form("haproxy", "", "haproxy:parse_haproxy", r"(?:#[ \t]*)?pxname,svname,", local_time=True),
    Form("nft", "json", "nft:parse_nft_json", r'\A\s*\{\s*"nftables"\s*:'),
    Form("nft", "", "nft:parse_nft", r"table (?:ip6?|inet|arp|bridge|netdev) \S+ \{", local_time=True),
    Form(
        "iptables", "", "iptables:parse_iptables",
        r"Chain \S+ \((?:policy [A-Z]|[0-9]+ references?)|\*(?:filter|nat|mangle|raw|security)\s*$"
        r"|ip6?tables(?:-save)? v[0-9.]{1,9} |(?:\S*sh: (?:line [0-9]+: )?|sudo: )ip6?tables(?:-save)?: ",
        local_time=True,
    ),
    Form(
        "conntrack", "", "conntrack:parse_conntrack",
        r"(?:\[[0-9.]{1,30}[ \t]*\][ \t]*)?(?:\[(?:NEW|UPDATE|DESTROY)\][ \t]*)?(?:ipv[46][ \t]+[0-9]+[ \t]+)?"
        r"[a-z][a-z0-9-]{0,20}[ \t]+[0-9]{1,3}[ \t]+(?:[0-9]{1,10}[ \t]+)?(?:[A-Z_0-9]{1,20}[ \t]+)?src=[0-9a-f]"
        r"|conntrack v[0-9.]+ \(conntrack-tools\): "
        r"|cpu=[0-9]+[ \t]+(?:found|searched)=[0-9]|entries[ \t]+[0-9]+[ \t]*\n[ \t]*searched[ \t]|(?:\S*sh: (?:line [0-9]+: )?|sudo: )conntrack: ",
        local_time=True,
    ),
    Form(
        "nginx", "stub_status", "stub_status:parse_stub_status", r"(?:<[^>\n]{1,80}>)?Active connections:\s+[0-9]", local_time=True,
    ),
    Form(  # the lines of nginx's log are the same, so that without a virtual host before them only a name tells them apart
        "apache", "access", "access_log:parse_apache_log",
        r"\S{1,255}:[0-9]{1,5} [^\s\[]\S{0,255} \S{1,255} \S{1,255} \[[0-9]{2}/[A-Z][a-z]{2}/[0-9]{4}:[0-9:]{8} [+-][0-9]{4}\] \"",
    ),
    Form(
        "nginx", "access", "access_log:parse_access_log",
        r"[^\s\[]\S{0,255}(?: [^\s\[]\S{0,255}){0,3} \[[0-9]{2}/[A-Z][a-z]{2}/[0-9]{4}:[0-9:]{8} [+-][0-9]{4}\] \"",
    ),
    Form(
        "nginx", "access-json", "access_json:parse_access_json",
        r"\{(?=[^\n]{0,4000}?\"(?:remote_addr|time_local|time_iso8601|request_uri|request|http_user_agent|clientip|body_bytes_sent)\"\s*:)"
        r"[^\n]{0,4000}?\"(?:http_)?(?:status|code)\"\s*:\s*\"?[0-9]",
    ),
    Form(
        "nginx", "error", "error_log:parse_error_log",
        r"[0-9]{4}/[0-9]{2}/[0-9]{2} [0-9:]{8} \[(?:debug|info|notice|warn|error|crit|alert|emerg)\] ", local_time=True,
    ),
    Form(
        "apache", "error", "error_log:parse_error_log",
        r"\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8}(?:\.[0-9]{1,6})? [0-9]{4}\] \[(?:\w*:)?[a-z]+[0-9]?\] ",
        local_time=True,
    ),
    Form(
        "apache", "server-status", "server_status:parse_server_status",
        r"Total Accesses: [0-9]|ServerVersion: \S|BusyWorkers: [0-9]|BusyServers: [0-9]|ServerUptimeSeconds: ", local_time=True,
    ),
    # --- snapshots of the kernel
    Form(
        "proc", "", "proc:parse_proc",
        r"CPU[0-9]+(?:[ \t]+CPU[0-9]+)*[ \t]*\n(?=[ \t]*[\w/]{1,12}:[ \t]+[0-9])"
        r"|[0-9]+:[ \t]+(?:[0-9]+[ \t]+)+(?:IR-)?(?:PCI-MSI|IO-APIC|XT-PIC|GIC)"
        r"|sl[ \t]+local_address[ \t]+rem|[0-9a-f]{8}(?:[ \t]+[0-9a-f]{8}){8}|Inter-\|[ \t]*Receive"
        r"|(?:Ip|Icmp|IcmpMsg|Tcp|Udp|UdpLite|Sctp|TcpExt|IpExt|MPTcpExt):[ \t]+[A-Z]\w+(?:[ \t]+[A-Z]\w+)*[ \t]*\n[ \t]*[A-Z]\w+:[ \t]+-?[0-9]"
        r"|Ip6InReceives[ \t]+[0-9]+[ \t]*$|sockets:[ \t]+used[ \t]+[0-9]|TCP6?:[ \t]+inuse[ \t]+[0-9]"
        r"|MemTotal:[ \t]+[0-9]+[ \t]+kB|cpu[ \t]+[0-9]+ [0-9]+ [0-9]+ [0-9]+"
        r"|[0-9]+\.[0-9]{2} [0-9]+\.[0-9]{2} [0-9]+\.[0-9]{2} [0-9]+/[0-9]+ [0-9]+[ \t]*$",
        local_time=True,
    ),
    Form(
        "nstat", "", "nstat:parse_nstat",
        r"#(?:kernel[ \t]*$|[0-9]+\.[0-9]+ sampling_interval=)|(?:Ip6?|Icmp6?|Tcp|TcpExt|IpExt|Udp6?)[A-Z]\w+[ \t]+[0-9]+[ \t]+[0-9]+\.[0-9][ \t]*$",
        local_time=True,
    ),
    Form(
        "nstat", "json", "nstat:parse_nstat_json",
        r"\{\s*\"(?:kernel|[0-9]+\.[0-9]+ sampling_interval[^\"\n]*)\"\s*:\s*\{",
    ),
    Form(
        "netstat", "", "netstat:parse_netstat",
        r"(?:Ip6?|Icmp6?|IcmpMsg|Tcp|Udp6?|UdpLite6?|TcpExt|IpExt):[ \t]*\n(?=[ \t]*(?:[0-9]+ [^\W\d]|[A-Z]\w*: -?[0-9]))"
        r"|[0-9]+ (?:times the listen queue of a socket overflowed|SYNs to LISTEN sockets |segments retrans"
        r"|active connections? openings|passive connection openings|failed connection attempts|connection resets received"
        r"|invalid SYN cookies received|SYN cookies |packets? (?:pruned|collapsed|rejects?) |TCP sockets finished time wait"
        r"|resets received for embryonic|delayed acks sent|packet receive errors|receive buffer errors|fast retransmits"
        r"|times recovered from packet loss|connections (?:reset|aborted) due to|other TCP timeouts|timeouts after )",
        local_time=True,
    ),
    Form(
        "ethtool", "", "ethtool:parse_ethtool",
        r"NIC statistics:[ \t]*$|Standard stats for \S+:|no stats available|Cannot get stats strings information: ",
        local_time=True,
    ),
    Form(
        "ip", "link", "ip_link:parse_ip_link",
        r"[0-9]{1,9}: [^\s:]{1,80}: <[^>\n]*>[^\n]*\n(?:[ \t]*(?![0-9]{1,9}: )[^\n]*\n){1,12}?[ \t]*RX:[ \t]+bytes[ \t]+packets", local_time=True,
    ),
    Form(
        "ip", "link-json", "ip_link:parse_ip_link_json",
        r"\[\s*\{(?=[\s\S]{0,400}?\"ifname\")(?=[\s\S]{0,5000}?\"stats(?:64)?\"\s*:)",
    ),
)  # fmt: skip


def form_of(tool: str, variant: str) -> Form | None:
    """Return the form that `run.json` names; None where its output is not read."""
    return next((form for form in FORMS if (form.tool, form.variant) == (tool, variant)), None)


@cache
def forms_of(tool: str) -> tuple[Form, ...]:
    """Return the forms of a tool, or the one form that ``TOOL:VARIANT`` names; none where there is no such tool."""
    return tuple(form for form in FORMS if tool in (form.tool, form.name))
