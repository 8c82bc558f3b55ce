# Records raw/ in two network namespaces; the clock of the server's monitor is 3 s ahead:
#   sudo sh data/atlas/clock_ahead/record.sh
set -e
cd "${0%/*}/raw"
work=$(mktemp -d)
trap 'kill $nginx 2>/dev/null || true; ip netns delete lc-client; ip netns delete lc-server; rm -r "$work"' EXIT
ip netns add lc-client
ip netns add lc-server
ip -n lc-client link add eth0 type veth peer name eth0 netns lc-server
for host in client:198.18.7.1 server:198.18.7.2; do
    ip -n "lc-${host%:*}" address add "${host#*:}/24" dev eth0
    ip -n "lc-${host%:*}" link set eth0 up
done
cat >"$work/nginx.conf" <<END
load_module /usr/lib/nginx/modules/ngx_http_echo_module.so;
daemon off;
pid $work/nginx.pid;
user root;
events { worker_connections 512; }
http {
    access_log off;
    server {
        listen 198.18.7.2:8080;
        location / { echo_sleep 0.020; echo_duplicate 616 x; }
    }
}
END
ip netns exec lc-server nginx -e stderr -c "$work/nginx.conf" &
nginx=$!
export LC_ALL=C TZ=UTC S_TIME_FORMAT=ISO
record() { # HOST [PREFIX...]
    host=$1
    shift
    ip netns exec "lc-$host" unshare --uts sh -c "hostname $host; exec $* sar -n DEV 1 13" >"c0032.$host.sar.txt" &
}
record client
client=$!
record server faketime -f +3s
server=$!
sleep 3
{ date -u +%FT%TZ; ip netns exec lc-client wrk -t1 -c32 -d6s --latency http://198.18.7.2:8080/; } >c0032.wrk.txt
wait "$client" "$server"
