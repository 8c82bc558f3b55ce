#!/bin/sh
# Check the functions of a balancer, and leave what the tools print in this folder.
#
#   C1, OUT --- front: 10.99.0.0/24 --- LB1, LB2 --- back: 10.99.64.0/24 --- S1 S2 S3
#
# Clients use 10.99.0.1 and servers use the gateway 10.99.64.1: LB1 has both addresses, until LB2 takes them over.  OUT
# is a host outside: it has no route to the servers.  The script must run in namespaces of its own, of network, mounts
# and processes, or as the first process of user-mode-linux, so that nothing of it remains.  It reads:
#
#   functions.env   CHECKS, and MODULES of the kernel to load
#   balancer.sh     commands of the balancer: load, flush, export_rules, import_rules, state …; COPIED_S, the time in s
#                   after which it has copied a connection; LONG_RATE, bytes/s of the download that must outlast it
#   rr.rules        what `load rr` loads: servers take turns
#   hash.rules      what `load hash` loads: the address of the client chooses the server
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
cd "${0%/*}" || exit 1
exec 2>errors.txt
. ./functions.env
mount -t proc proc /proc
mount -t tmpfs tmpfs /run
if [ -n "$MODULES" ]; then
    mount -t sysfs sysfs /sys
    # Debian's minimal system has no insmod: finit_module(2) of x86-64.
    for module in $MODULES; do
        perl -e 'open(my $file, "<", $ARGV[0]) or die; my $no = ""; syscall(313, fileno($file), $no, 0)' "$module"
    done
fi

in_host() { ip netns exec "$@"; }
clock() { date -u +%s.%3N; }
can() { command -v "$1" >/run/can; }
checked() { # CHECK: whether it is to be done; its start goes to a file
    case " $CHECKS " in *" $1 "*) echo "$(clock) $1" >>starts.txt ;; *) return 1 ;; esac
}
until_true() { # TENTHS COMMAND...: try every 0.1 s
    tenths=$1; shift
    while [ "$tenths" -gt 0 ]; do
        "$@" && return 0
        tenths=$((tenths - 1)); sleep 0.1
    done
    return 1
}
join() { # HOST NETWORK ADDRESS
    ip link add "$1-$2" type veth peer name "$2" netns "$1"
    ip link set "$1-$2" master "$2" up
    ip -n "$1" address add "$3/24" dev "$2"
    ip -n "$1" link set "$2" up
}
ask() { # HOST URL [OPTION]...: status, bytes and curl's exit code of each response, each on a connection of its own
    host=$1 url=$2; shift 2
    in_host "$host" curl -q -s --noproxy '*' --max-time 2 -H 'Connection: close' -o /dev/null \
        -w '%{http_code} %{size_download} %{exitcode}\n' "$@" "$url"
}
serve() { # HOST BYTES: an nginx whose response tells who it is
    mkdir -p "/run/$1"
    head -c 400000 /dev/zero >"/run/$1/long"
    cat >"$1.conf" <<END
daemon off; user root; pid /run/$1.pid; error_log stderr warn;
events { worker_connections 512; }
http {
    access_log off;
    client_body_temp_path /run/$1/t1; proxy_temp_path /run/$1/t2; fastcgi_temp_path /run/$1/t3;
    uwsgi_temp_path /run/$1/t4; scgi_temp_path /run/$1/t5;
    # A proxy passes on the client's address in a header.
    set_real_ip_from 10.99.0.0/16; real_ip_header X-Forwarded-For;
    server {
        listen 80;
        set \$who "$(head -c "$2" /dev/zero | tr '\0' x)";
        location / { return 200 \$who; }
        location ~ ^/(client_address|outside) { access_log $1.access.log; return 200 \$who; }
        location /long { root /run/$1; limit_rate $LONG_RATE; }
    }
}
END
    in_host "$1" nginx -p . -c "$1.conf" -e stderr &
}
vrrp() { # HOST PRIORITY: keepalived, with the services where the balancer has it configured by keepalived
    {
        echo "global_defs {
    router_id $1
    vrrp_version 3
    $(! can sync_daemon || sync_daemon)
}
vrrp_instance addresses {
    state BACKUP
    interface front
    virtual_router_id 51
    priority $2
    advert_int 0.2
    virtual_ipaddress {
        10.99.0.1/24 dev front
        10.99.64.1/24 dev back
    }
}"
        ! can virtual_server || virtual_server
    } >"$1.keepalived.conf"
    in_host "$1" keepalived -n -l -D -G -f "$1.keepalived.conf" -p "/run/$1.kp" -r "/run/$1.vrrp" -c "/run/$1.check" \
        >"$1.keepalived.log" 2>&1 &
}
has_address() { ip -n "$1" -4 address show dev front | grep -q 'inet 10\.99\.0\.1/'; }

. ./balancer.sh
{ uname -srm; for tool in $VERSIONS nginx curl; do
    case $tool in conntrackd | haproxy | keepalived | nginx) option=-v ;; *) option=--version ;; esac
    echo "$tool: $($tool $option 2>&1 | head -n 1)"
done; } >versions.txt

for network in front back; do ip link add "$network" type bridge && ip link set "$network" up; done
for host in C1 OUT LB1 LB2 S1 S2 S3; do ip netns add "$host" && ip -n "$host" link set lo up; done
join C1 front 10.99.0.2
join OUT front 10.99.0.9
for i in 1 2; do
    join "LB$i" front "10.99.0.25$i"
    join "LB$i" back "10.99.64.25$i"
    in_host "LB$i" sysctl -q -w net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0 \
        net.ipv4.conf.all.send_redirects=0 net.ipv4.tcp_congestion_control=reno
done
for i in 1 2 3; do
    join "S$i" back "10.99.64.1$i"
    ip -n "S$i" route add default via 10.99.64.1
    serve "S$i" "10$i"
done
serve OUT 104
ip -n LB1 address add 10.99.0.1/24 dev front
ip -n LB1 address add 10.99.64.1/24 dev back
for i in 1 2 3; do until_true 90 in_host LB1 curl -q -s -o /dev/null "10.99.64.1$i"; done
until_true 90 in_host LB1 curl -q -s -o /dev/null 10.99.0.9
prepare LB1
load rr
until_true 50 in_host C1 curl -q -s -f -o /dev/null --max-time 1 10.99.0.1/ready

if checked client_address; then
    ip -n C1 address add 10.99.0.3/24 dev front
    for from in 2 3; do ask C1 'http://10.99.0.1/client_address?[1-3]' --interface "10.99.0.$from"; done >client_address.txt
fi
if checked outside; then ask S1 http://10.99.0.9/outside >outside.txt; fi
if checked round_robin; then ask C1 'http://10.99.0.1/round_robin?[1-30]' >round_robin.txt; fi
if checked hash; then
    load hash
    for at in $(seq 101 136); do ip -n C1 address add "10.99.0.$at/24" dev front; done
    until_true 50 in_host C1 curl -q -s -f -o /dev/null --max-time 1 10.99.0.1/ready
    for at in $(seq 101 136); do
        ask C1 'http://10.99.0.1/hash?[1-2]' --interface "10.99.0.$at" | sed "s/^/10.99.0.$at /"
    done >hash.txt
    load rr
fi
if checked ten_thousand && can load_many; then
    load_many
    export_rules LB1 >/run/many.txt
    count_services </run/many.txt >ten_thousand.count.txt
    ask C1 'http://10.99.0.1:10000/first?[1-3]' >ten_thousand.txt
    ask C1 'http://10.99.0.1:19999/last?[1-3]' >>ten_thousand.txt
    load rr
fi
if checked export_import && can export_rules; then
    export_rules LB1 >export_import.exported.txt
    flush
    export_rules LB1 >export_import.flushed.txt
    ask C1 'http://10.99.0.1/flushed?[1-3]' >export_import.asked_when_flushed.txt
    import_rules export_import.exported.txt
    export_rules LB1 >export_import.imported.txt
    ask C1 'http://10.99.0.1/imported?[1-6]' >export_import.asked_when_imported.txt
fi

pair() { # two balancers that share the addresses
    ip -n LB1 address del 10.99.0.1/24 dev front
    ip -n LB1 address del 10.99.64.1/24 dev back
    prepare LB2
    load_pair
    vrrp LB1 200
    vrrp LB2 100
    until_true 100 has_address LB1
    until_true 100 in_host C1 curl -q -s -f -o /dev/null --max-time 1 10.99.0.1/ready
}
if checked dead_server || checked fail_over; then pair; fi
answered() { # URL: whether twelve requests are answered
    [ "$(ask C1 "http://10.99.0.1/$1?[1-12]" | grep -c '^200 ')" = 12 ]
}
has_ended() { [ ! -e "/run/$1.pid" ]; }
third_answers() { ask C1 'http://10.99.0.1/back?[1-6]' | grep -q '^200 103 '; }
if checked dead_server; then
    until_true 50 answered before
    kill "$(cat /run/S3.pid)"
    until_true 100 has_ended S3
    clock >dead_server.clock.txt
    until_true 30 answered dead_server
    clock >>dead_server.clock.txt
    ask C1 'http://10.99.0.1/dead_server?[1-12]' >dead_server.txt
    serve S3 103
    until_true 50 third_answers
    ask C1 'http://10.99.0.1/back?[1-12]' >dead_server.back.txt
fi
if checked fail_over; then
    in_host C1 curl -q -s --noproxy '*' --max-time 20 --speed-time 4 --speed-limit 1 -o /dev/null \
        -w '%{http_code} %{size_download} %{exitcode} %{time_total}\n' http://10.99.0.1/long >fail_over.long.txt &
    long=$!
    sleep 1
    in_host C1 ss -H -t -n -i state established >fail_over.client_sockets.txt
    state LB2 >fail_over.state_after_1_s.txt
    sleep "$((COPIED_S - 1))"
    state LB2 >fail_over.state.txt
    clock >fail_over.clock.txt
    ip -n LB1 link set front down
    ip -n LB1 link set back down
    for turn in $(seq 25); do
        in_host C1 curl -q -s --noproxy '*' --max-time 0.3 -o /dev/null -w "%{http_code} $(clock)\n" http://10.99.0.1/short
        sleep 0.05
    done >fail_over.short.txt
    wait "$long"
    ip -n LB2 -4 address show >fail_over.address.txt
fi
echo "$(clock) end" >>starts.txt
echo end >end.txt
for pid in /run/*.pid /run/*.kp; do kill "$(cat "$pid")"; done
[ -z "$MODULES" ] || { sync; echo o >/proc/sysrq-trigger; sleep 5; }
