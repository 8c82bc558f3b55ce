# Records raw/ with fortio (`go install fortio.org/fortio@v1.63.0`) on the loopback interface:
#   sh data/atlas/rate_beyond_connections/record.sh
set -e
cd "${0%/*}/raw"
work=$(mktemp -d)
trap 'kill $server; rm -r "$work"' EXIT
cat >"$work/nginx.conf" <<END
load_module /usr/lib/nginx/modules/ngx_http_echo_module.so;
daemon off;
pid $work/nginx.pid;
events { worker_connections 512; }
http {
    access_log off;
    server {
        listen 127.0.0.1:18080;
        location / { echo_sleep 0.050; echo_duplicate 616 x; }
    }
}
END
nginx -e stderr -c "$work/nginx.conf" &
server=$!
sleep 0.5
for rate in 100 400; do
    fortio load -c 8 -qps "$rate" -t 5s http://127.0.0.1:18080/ >"r$rate.fortio.txt" 2>&1
done
