# Records raw/ in a kernel of its own, whose table of tracked connections may be small:
#   sudo .venv/bin/python -m validation.faults.guest data/atlas/full_conntrack/guest.sh
# modules: nf_conntrack nf_conntrack_netlink iptable_filter xt_conntrack xt_tcpudp
sysctl -q -w net.netfilter.nf_conntrack_max=64
iptables-legacy -A INPUT -p tcp --dport 8080 -m conntrack --ctstate NEW -j ACCEPT
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
at() { date -u +%FT%TZ; }
while at && sysctl net.netfilter.nf_conntrack_count net.netfilter.nf_conntrack_max; do sleep 1; done >c0100.sysctl.txt &
while at && conntrack -S; do sleep 1; done >c0100.conntrack.txt &
sleep 1
{ at; wrk -t1 -c100 -d8s --latency http://127.0.0.1:8080/; } >c0100.wrk.txt
