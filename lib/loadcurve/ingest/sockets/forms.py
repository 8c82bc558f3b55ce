"""The forms of ss."""

from loadcurve.ingest.form import Form

FORMS = (
    Form(
        "ss", "summary", "sockets.ss:parse_ss",
        (
            r"Total:[ \t]+[0-9]+(?:[ \t]+\(kernel[ \t]+[0-9]+\))?[ \t]*$",
            r"TCP:[ \t]+[0-9]+[ \t]+\(estab[ \t]",
        ),
        takes=("timezone",),
    ),
    Form(
        "ss", "connections", "sockets.ss:parse_ss",
        (
            r"(?:Netid[ \t]*)?(?:State[ \t]*)?(?:Recv-Q[ \t]*Send-Q[ \t]*)?"
            r"Local Address[ \t]*:[ \t]*Port[ \t]*Peer Address[ \t]*:",
            r"(?:(?:tcp|udp|raw|mptcp|sctp|dccp|icmp6|u_str|u_dgr|u_seq|nl|p_raw|p_dgr|v_str|v_dgr|xdp|ti_..)"
            r"[ \t]+)?(?:ESTAB|LISTEN|UNCONN|TIME-WAIT|CLOSE-WAIT|LAST-ACK|CLOSING|FIN-WAIT-[12]|SYN-SENT"
            r"|SYN-RECV)[ \t]+-?[0-9]+[ \t]+-?[0-9]+[ \t]+\S",
            r"[0-9]+[ \t]+[0-9]+[ \t]+\S+:(?:[0-9]+|\*|[a-z][\w-]*)[ \t]+\S+:(?:[0-9]+|\*|[a-z][\w-]*)"
            r"(?=[ \t]|$)",
            r"(?:[^\s:]+: ){0,3}(?:line [0-9]+: |[0-9]+: )?(?:\S*/)?ss: (?:command )?not found",
            r"(?:\S+: )?command not found: ss$",
            r"ss: (?=[a-zA-Z])",
            r"Usage: ss \[",
            r"Cannot open netlink socket: ",
        ),
        takes=("timezone",),
    ),
)  # fmt: skip
