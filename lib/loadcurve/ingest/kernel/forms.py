"""The forms of the kernel's counters."""

from loadcurve.ingest.ending import JSON
from loadcurve.ingest.form import Form

FORMS = (
    Form(
        "proc", "", "kernel.proc:parse_proc",
        (
            r"CPU[0-9]+(?:[ \t]+CPU[0-9]+)*[ \t]*\n(?=[ \t]*[\w/]{1,12}:[ \t]+[0-9])",
            r"[0-9]+:[ \t]+(?:[0-9]+[ \t]+)+(?:IR-)?(?:PCI-MSI|IO-APIC|XT-PIC|GIC)",
            r"sl[ \t]+local_address[ \t]+rem",
            r"[0-9a-f]{8}(?:[ \t]+[0-9a-f]{8}){8}",
            r"Inter-\|[ \t]*Receive",
            r"(?:Ip|Icmp|IcmpMsg|Tcp|Udp|UdpLite|Sctp|TcpExt|IpExt|MPTcpExt):[ \t]+[A-Z]\w+(?:[ \t]+[A-Z]\w+)*"
            r"[ \t]*\n[ \t]*[A-Z]\w+:[ \t]+-?[0-9]",
            r"Ip6InReceives[ \t]+[0-9]+[ \t]*$",
            r"sockets:[ \t]+used[ \t]+[0-9]",
            r"TCP6?:[ \t]+inuse[ \t]+[0-9]",
            r"MemTotal:[ \t]+[0-9]+[ \t]+kB",
            r"cpu[ \t]+[0-9]+ [0-9]+ [0-9]+ [0-9]+",
            r"[0-9]+\.[0-9]{2} [0-9]+\.[0-9]{2} [0-9]+\.[0-9]{2} [0-9]+/[0-9]+ [0-9]+[ \t]*$",
        ),
        takes=("timezone",),
    ),
    Form(
        "nstat", "", "kernel.nstat:parse_nstat",
        (
            r"#(?:kernel[ \t]*$|[0-9]+\.[0-9]+ sampling_interval=)",
            r"(?:Ip6?|Icmp6?|Tcp|TcpExt|IpExt|Udp6?)[A-Z]\w+[ \t]+[0-9]+[ \t]+[0-9]+\.[0-9][ \t]*$",
        ),
        takes=("timezone",),
    ),
    Form(
        "nstat", "json", "kernel.nstat:parse_nstat_json",
        (
            r'\{\s*\"(?:kernel|[0-9]+\.[0-9]+ sampling_interval[^\"\n]*)\"\s*:\s*\{',
        ),
        ending=JSON,
    ),
    Form(
        "netstat", "", "kernel.netstat:parse_netstat",
        (
            r"(?:Ip6?|Icmp6?|IcmpMsg|Tcp|Udp6?|UdpLite6?|TcpExt|IpExt):[ \t]*\n(?=[ \t]*(?:[0-9]+ [^\W\d]"
            r"|[A-Z]\w*: -?[0-9]))",
            r"[0-9]+ (?:times the listen queue of a socket overflowed|SYNs to LISTEN sockets "
            r"|segments retrans|active connections? openings|passive connection openings"
            r"|failed connection attempts|connection resets received|invalid SYN cookies received"
            r"|SYN cookies |packets? (?:pruned|collapsed|rejects?) |TCP sockets finished time wait"
            r"|resets received for embryonic|delayed acks sent|packet receive errors|receive buffer errors"
            r"|fast retransmits|times recovered from packet loss|connections (?:reset|aborted) due to"
            r"|other TCP timeouts|timeouts after )",
        ),
        takes=("timezone",),
    ),
    Form(
        "ethtool", "", "kernel.ethtool:parse_ethtool",
        (
            r"NIC statistics:[ \t]*$",
            r"Standard stats for \S+:",
            r"no stats available",
            r"Cannot get stats strings information: ",
        ),
        takes=("timezone",),
    ),
    Form(
        "ip", "link", "kernel.ip_link:parse_ip_link",
        (
            r"[0-9]{1,9}: [^\s:]{1,80}: <[^>\n]*>[^\n]*\n(?:(?![ \t]*[0-9]{1,9}: )[^\n]*\n){1,12}?"
            r"[ \t]*RX:[ \t]+bytes[ \t]+packets",
        ),
        takes=("timezone",),
    ),
    Form(
        "ip", "link-json", "kernel.ip_link:parse_ip_link_json",
        (
            r'\[\s*\{(?=[\s\S]{0,400}?\"ifname\")(?=[\s\S]{0,5000}?\"stats(?:64)?\"\s*:)',
        ),
        ending=JSON,
    ),
)  # fmt: skip
