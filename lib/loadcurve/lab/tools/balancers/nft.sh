# nftables rewrites the destination (DNAT); conntrackd copies the connections to the second balancer.
VERSIONS='nft conntrackd keepalived' COPIED_S=2 LONG_RATE=100k
outside='table ip outside {
    chain postrouting {
        type nat hook postrouting priority srcnat; policy accept;
        oifname "front" ip saddr 10.99.64.0/24 masquerade
    }
}'
prepare() { echo "$outside" | in_host "$1" nft -f -; }
load() { in_host LB1 nft -f "$1.rules"; }
load_many() { # the same table with ten thousand services in its map
    elements=$(seq -f '10.99.0.1 . %.0f : goto balance' 10000 19999 | paste -s -d ,)
    sed 's/10\.99\.0\.1 \. 80 : goto balance/ELEMENTS/' rr.rules >/run/many.rules
    { sed '/ELEMENTS/,$d' /run/many.rules; echo "$elements"; sed '1,/ELEMENTS/d' /run/many.rules; } |
        in_host LB1 nft -f -
}
count_services() { grep -c -F '10.99.0.1 . '; }
flush() { in_host LB1 nft flush ruleset; }
export_rules() { in_host "$1" nft --stateless --numeric list ruleset; }
import_rules() { in_host LB1 nft -f "$1"; }
state() { in_host "$1" conntrack -L -p tcp --state ESTABLISHED; }
load_pair() {
    in_host LB2 nft -f rr.rules
    copy LB1 251 252
    copy LB2 252 251
}
copy() { # HOST ITS_NUMBER THE_OTHERS
    cat >"$1.conntrackd.conf" <<END
Sync {
    Mode FTFW { DisableExternalCache yes }
    UDP {
        IPv4_address 10.99.64.$2
        IPv4_Destination_Address 10.99.64.$3
        Port 3780
        Interface back
        Checksum on
    }
}
General {
    HashSize 8192
    HashLimit 65535
    LockFile /run/$1.lock
    UNIX { Path /run/$1.ctl }
    Filter From Userspace { Protocol Accept { TCP } }
}
END
    in_host "$1" conntrackd -C "$1.conntrackd.conf" >"$1.conntrackd.log" 2>&1 &
}
