# Records raw/ in two network namespaces; the link of the server has 100 Mbit/s, and a token bucket of 60 MiB:
#   sudo sh data/atlas/burst_of_the_link/record.sh
set -e
cd "${0%/*}"
mkdir -p raw
cd raw
work=$(mktemp -d)
trap 'kill $nginx $sar 2>/dev/null || true; wait; ip netns delete lcb-client; ip netns delete lcb-server; rm -r "$work"' EXIT
ip netns add lcb-client
ip netns add lcb-server
ip -n lcb-client link add eth0 type veth peer name eth0 netns lcb-server
for host in client:198.18.9.1 server:198.18.9.2; do
    ip -n "lcb-${host%:*}" address add "${host#*:}/24" dev eth0
    ip -n "lcb-${host%:*}" link set eth0 up
    ip netns exec "lcb-${host%:*}" sysctl -q -w net.ipv4.tcp_congestion_control=reno
done
tc -n lcb-server qdisc add dev eth0 root tbf rate 100mbit burst 60mb latency 50ms
mkdir "$work/www"
head -c 10000 /dev/zero | tr '\0' x >"$work/www/index.html"
cat >"$work/nginx.conf" <<END
daemon off;
pid $work/nginx.pid;
user root;
events { worker_connections 512; }
http {
    access_log off;
    keepalive_requests 1000000000;
    server {
        listen 198.18.9.2:8080;
        root $work/www;
    }
}
END
ip netns exec lcb-server taskset -c 0 nginx -e stderr -c "$work/nginx.conf" &
nginx=$!
export LC_ALL=C S_TIME_FORMAT=ISO TZ=UTC
ip netns exec lcb-client sar -u ALL -n DEV --iface=eth0 1 >c32.client.sar.txt &
sar=$!
sleep 2
started=$(date -u +%FT%TZ)
ip netns exec lcb-client taskset -c 1 wrk --latency -t1 -c32 -d${1:-6}s http://198.18.9.2:8080/ >c32.wrk.txt
kill -INT $sar
cat >factors.csv <<END
file,host,started_at,link_bps
c32.wrk.txt,client,$started,100000000
c32.client.sar.txt,client,,
END
