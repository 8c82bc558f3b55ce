# Records raw/ in a kernel with 96 MB of memory and a swap device:
#   sudo .venv/bin/python -m validation.faults.guest data/atlas/swapping_server/guest.sh
# memory: 96
# disk: 256
mkswap /dev/ubda
swapon /dev/ubda
cat >/run/nginx.conf <<'END'
load_module /usr/lib/nginx/modules/ngx_http_echo_module.so;
pid /run/nginx.pid;
user root;
events { worker_connections 512; }
http {
    access_log off;
    server {
        listen 127.0.0.1:8080;
        location / { echo_sleep 0.020; echo_duplicate 616 x; }
    }
}
END
nginx -e stderr -c /run/nginx.conf
export LC_ALL=C S_TIME_FORMAT=ISO
sar -r -S -W -u -n DEV 1 13 >c0016.sar.txt &
sleep 1
mkdir /run/files
mount -t tmpfs -o size=200M tmpfs /run/files
# 15 MB more every half second, 150 MB in all.
(sleep 4; for i in 0 1 2 3 4 5 6 7 8 9; do head -c 15000000 /dev/zero >"/run/files/$i"; sleep 0.5; done) &
{ date -u +%FT%TZ; wrk -t1 -c16 -d10s --latency http://127.0.0.1:8080/; } >c0016.wrk.txt
wait
