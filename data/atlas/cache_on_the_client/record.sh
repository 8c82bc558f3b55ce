# Records raw/ in two network namespaces with a link of 10 ms in each direction; on the client, the name of the server is
# that of a cache on 127.0.0.1, which asks the server for one response in twenty:
#   sudo sh data/atlas/cache_on_the_client/record.sh
set -e
cd "${0%/*}"
delay_line=$(realpath ../../../lib/loadcurve/lab/hosts/network/delay_line.py)
mkdir -p raw
cd raw
work=$(mktemp -d)
trap 'kill $nginx $cache $ss $sar 2>/dev/null || true; kill $line; wait; ip netns delete lcb-client; ip netns delete lcb-server; rm -r "$work"' EXIT
ip netns add lcb-client
ip netns add lcb-server
python3 -I -S "$delay_line" lcb-client eth0 lcb-server eth0 0.010 >"$work/ready" &
line=$!
until grep -q ready "$work/ready"; do sleep 0.1; done
for host in client:198.18.9.1 server:198.18.9.2; do
    ip -n "lcb-${host%:*}" link set lo up
    ip -n "lcb-${host%:*}" address add "${host#*:}/24" dev eth0
    ip -n "lcb-${host%:*}" link set eth0 up
done
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
        location / { return 200 "$(head -c 616 /dev/zero | tr '\0' x)"; }
    }
}
END
cat >"$work/cache.conf" <<END
daemon off;
pid $work/cache.pid;
user root;
events { worker_connections 512; }
http {
    access_log off;
    keepalive_requests 1000000000;
    proxy_cache_path $work/cache keys_zone=pages:1m;
    upstream shop { server 198.18.9.2:8080; keepalive 64; keepalive_requests 1000000000; }
    split_clients "\$request_id" \$other { 5% 1; * ""; }
    server {
        listen 127.0.0.1:8080;
        location / {
            proxy_pass http://shop;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_cache pages;
            proxy_cache_valid 200 1h;
            proxy_cache_bypass \$other;
            proxy_no_cache \$other;
        }
    }
}
END
echo "127.0.0.1 shop.test" >"$work/hosts"
ip netns exec lcb-server taskset -c 0 nginx -e stderr -c "$work/nginx.conf" &
nginx=$!
ip netns exec lcb-client taskset -c 0 nginx -e stderr -c "$work/cache.conf" &
cache=$!
export LC_ALL=C S_TIME_FORMAT=ISO TZ=UTC
ip netns exec lcb-client sar -u ALL -n DEV --iface=eth0 1 >c32.client.sar.txt &
sar=$!
ip netns exec lcb-client sh -c 'while date -u "+## %Y-%m-%dT%H:%M:%S.%NZ"; do ss -tin dst 198.18.9.2; sleep 1; done' >c32.client.ss.txt &
ss=$!
sleep 2
started=$(date -u +%FT%TZ)
ip netns exec lcb-client unshare --mount sh -c \
    "mount --bind $work/hosts /etc/hosts; exec taskset -c 1 wrk --latency -t1 -c32 -d${1:-6}s http://shop.test:8080/" >c32.wrk.txt
kill -INT $sar
cat >factors.csv <<END
file,host,started_at
c32.wrk.txt,client,$started
c32.client.sar.txt,client,
c32.client.ss.txt,client,
END
