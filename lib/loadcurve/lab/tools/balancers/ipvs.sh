# IPVS, with NAT; keepalived checks the servers, and its synchronisation daemon copies connections.
# IPVS collects copies for up to 2 s before it sends them (ip_vs_sync.c).
VERSIONS='ipvsadm keepalived iptables-legacy' COPIED_S=5 LONG_RATE=50k
prepare() { in_host "$1" iptables-legacy -w 5 -t nat -A POSTROUTING -o front -s 10.99.64.0/24 -j MASQUERADE; }
load() { in_host LB1 ipvsadm -C && in_host LB1 ipvsadm -R <"$1.rules"; }
load_many() {
    flush
    for port in $(seq 10000 19999); do
        echo "-A -t 10.99.0.1:$port -s rr"
        echo "-a -t 10.99.0.1:$port -r 10.99.64.11:80 -m"
    done | in_host LB1 ipvsadm -R
}
count_services() { grep -c -e '^-A'; }
flush() { in_host LB1 ipvsadm -C; }
export_rules() { in_host "$1" ipvsadm -S -n; }
import_rules() { in_host LB1 ipvsadm -R <"$1"; }
state() { in_host "$1" ipvsadm -L -n -c; }
load_pair() { flush; } # keepalived loads the services
sync_daemon() { echo 'lvs_sync_daemon back addresses'; }
virtual_server() {
    echo 'virtual_server 10.99.0.1 80 {
    delay_loop 0.5
    lvs_sched rr
    lvs_method NAT
    protocol TCP'
    for i in 1 2 3; do
        echo "    real_server 10.99.64.1$i 80 {
        weight 1
        TCP_CHECK {
            connect_timeout 1
            retry 0
        }
    }"
    done
    echo '}'
}
