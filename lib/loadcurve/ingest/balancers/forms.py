"""The forms of balancers and connection tracking."""

from loadcurve.ingest.ending import JSON, Ending
from loadcurve.ingest.form import Form

FORMS = (
    Form(
        "proc", "ip_vs", "balancers.ipvsadm:parse_ipvsadm",
        (
            r"IP Virtual Server version [^\n]*\n\s*Prot LocalAddress:Port Scheduler Flags\s*\n\s*-> RemoteAddr"
            r"ess:Port Forward Weight ActiveConn InActConn[ \t]*\n\s*(?:(?:TCP|UDP|SCTP)\s+(?:[0-9A-F]{8}"
            r"|\[(?:[0-9a-f]{4}:){7}[0-9a-f]{4}\]):[0-9A-F]{4}\s|FWM\s+[0-9A-F]{8}\s)",
        ),
        takes=("timezone",),
    ),
    Form(
        "proc", "ip_vs_conn", "balancers.ipvsadm:parse_ipvsadm",
        (
            r"Pro\s+FromIP\s+FPrt\s+ToIP\s",
            r"(?:TCP|UDP|SCTP)[ \t]+(?:[0-9A-F]{8}|(?:[0-9a-f]{4}:){7}[0-9a-f]{4})[ \t]+[0-9A-F]{4}[ \t]+[0-9A-Fa-f]",
        ),
        takes=("timezone",),
    ),
    Form(
        "proc", "ip_vs_stats", "balancers.ip_vs_stats:parse_ip_vs_stats",
        (
            r"Total\s+Incoming\s+Outgoing\s+Incoming\s+Outgoing",
        ),
        takes=("timezone",),
    ),
    Form(
        "ipvsadm", "", "balancers.ipvsadm:parse_ipvsadm",
        (
            r"IP Virtual Server version ",
            r"Prot\s+LocalAddress:Port\s",
            r"-(?:>|&gt;)\s*RemoteAddress:Port\s",
            r"IPVS connection entries",
            r"pro\s+expire\s+state\s+source\s",
            r"VIP:VPORT\s+TOTAL\s",
            r"(?:TCP|UDP|SCTP|IP)[ \t]+[0-9]{2,9}:[0-9]{2}[ \t]+[A-Z_]{3,12}[ \t]+\S{1,99}:\w{1,40}[ \t]",
            r"\[[0-9]{1,3}\](?:tcp|udp|icmp|--)[ \t]+[0-9]{1,9}s[ \t]",
            r"(?:TCP|UDP|SCTP)[ \t]+\S{1,99}:\w{1,40}[ \t]+(?:w?rr|w?lc|lblcr?|[dsm]h|sed|nq|fo|ovf|twos"
            r"|conhash)\s",
            r"-(?:>|&gt;)[ \t]*\S{1,99}[ \t]+(?:Route|Masq|Tunnel|Local|FullNat|SNAT)[ \t]+[0-9]",
            r"-[Aa] (?:-[tufq]|--(?:tcp|udp|sctp|fwmark)-service) \S{1,99} (?:-6 )?-[sr] ",
            r"Timeout \(tcp tcpfin udp\)",
            r"(?:master|backup) sync daemon \(mcast=",
            r"Can't initialize ipvs",
            r"(?:\S*sh: (?:line [0-9]+: )?|sudo: )?ipvsadm: ",
            r"Illegal '[\w-]+' option with the '",
            r"cannot open file /proc/net/ip_vs",
            r"cat: /proc/net/ip_vs",
        ),
        takes=("timezone",),
    ),
    Form(
        "haproxy", "", "balancers.haproxy:parse_haproxy",
        (
            r"(?:#[ \t]*)?pxname,svname,",
        ),
        commas=True,
        takes=("timezone",),
        ending=Ending(r".*,"),
    ),
    Form(
        "nft", "json", "balancers.nft:parse_nft_json",
        (
            r'\A\s*\{\s*"nftables"\s*:',
        ),
        ending=JSON,
    ),
    Form(
        "nft", "", "balancers.nft:parse_nft",
        (
            r"table (?:ip6?|inet|arp|bridge|netdev) \S+ \{",
        ),
        commas=True,
        takes=("timezone",),
        ending=Ending(r"\}"),
    ),
    Form(
        "iptables", "", "balancers.iptables:parse_iptables",
        (
            r"Chain \S+ \((?:policy [A-Z]|[0-9]+ references?)",
            r"\*(?:filter|nat|mangle|raw|security)\s*$",
            r"ip6?tables(?:-save)? v[0-9.]{1,9} ",
            r"(?:\S*sh: (?:line [0-9]+: )?|sudo: )ip6?tables(?:-save)?: ",
        ),
        commas=True,
        takes=("timezone",),
    ),
    Form(
        "conntrack", "", "balancers.conntrack:parse_conntrack",
        (
            r"(?:\[[0-9.]{1,30}[ \t]*\][ \t]*)?(?:\[(?:NEW|UPDATE|DESTROY)\][ \t]*)?"
            r"(?:ipv[46][ \t]+[0-9]+[ \t]+)?[a-z][a-z0-9-]{0,20}[ \t]+[0-9]{1,3}[ \t]+(?:[0-9]{1,10}[ \t]+)?"
            r"(?:[A-Z_0-9]{1,20}[ \t]+)?src=[0-9a-f]",
            r"conntrack v[0-9.]+ \(conntrack-tools\): ",
            r"cpu=[0-9]+[ \t]+(?:found|searched)=[0-9]",
            r"entries[ \t]+[0-9]+[ \t]*\n[ \t]*searched[ \t]",
            r"(?:\S*sh: (?:line [0-9]+: )?|sudo: )conntrack: ",
        ),
        takes=("timezone",),
    ),
)  # fmt: skip
