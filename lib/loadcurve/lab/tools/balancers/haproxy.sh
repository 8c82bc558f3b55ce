# HAProxy ends the client's connection and opens its own; it asks its servers whether they answer.
VERSIONS='haproxy keepalived' COPIED_S=2 LONG_RATE=100k
outside='table ip outside {
    chain postrouting {
        type nat hook postrouting priority srcnat; policy accept;
        oifname "front" ip saddr 10.99.64.0/24 masquerade
    }
}'
prepare() { echo "$outside" | in_host "$1" nft -f -; }
start() { # HOST NAME
    ip netns exec "$1" haproxy -db -f "$2.rules" >>"$1.haproxy.log" 2>&1 &
    echo $! >"/run/$1.haproxy"
}
load() {
    if [ -f /run/LB1.haproxy ]; then
        kill "$(cat /run/LB1.haproxy)"
        wait "$(cat /run/LB1.haproxy)"
    fi
    start LB1 "$1"
    until_true 50 in_host C1 curl -q -s -f -o /dev/null --max-time 1 10.99.0.1/ready
}
state() { in_host "$1" ss -H -t -n state established; }
load_pair() { start LB2 rr; }
