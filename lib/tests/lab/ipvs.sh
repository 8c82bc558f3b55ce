#!/bin/sh
# What IPVS does, told in files of the folder in which this lies: run in namespaces of its own (here), or as the first
# process of a user-mode-linux whose root is this machine's (uml).  Nothing stays: all it makes is in those, /run too.
#
#   C1 --- front: 10.99.0.0/24 --- LB --- back: 10.99.64.0/24 --- S1 S2 S3
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
cd "${0%/*}" || exit 1
exec 2>errors.txt
mount -t proc proc /proc
mount -t tmpfs tmpfs /run
if [ "$1" != here ]; then
    mount -t sysfs sysfs /sys
    # Debian's minimal system has no insmod: finit_module(2) of x86-64.
    while read -r module; do
        perl -e 'open(my $file, "<", $ARGV[0]) or die; my $no = ""; syscall(313, fileno($file), $no, 0)' "$module"
    done <modules.txt
fi
in_host() { ip netns exec "$@"; }
join() { # HOST NETWORK ADDRESS
    ip link add "$1-$2" type veth peer name "$2" netns "$1"
    ip link set "$1-$2" master "$2" up
    ip -n "$1" address add "$3/24" dev "$2"
    ip -n "$1" link set "$2" up
}
ask() { # TIMES PORT: how long the answers were, each on a connection of its own
    in_host C1 curl -q -s --max-time 20 -H 'Connection: close' -o /dev/null -w '%{size_download}\n' \
        "http://10.99.0.1:$2/?[1-$1]"
}

for network in front back; do ip link add "$network" type bridge && ip link set "$network" up; done
for host in C1 LB S1 S2 S3; do ip netns add "$host" && ip -n "$host" link set lo up; done
join C1 front 10.99.0.2
join LB front 10.99.0.1
join LB back 10.99.64.1
in_host LB sysctl -q -w net.ipv4.ip_forward=1
for i in 1 2 3; do
    join "S$i" back "10.99.64.1$i"
    ip -n "S$i" route add default via 10.99.64.1
    in_host "S$i" nginx -p . -c "S$i.conf" -e stderr &
done
for i in 1 2 3; do
    in_host LB curl -q -s --retry 50 --retry-connrefused --retry-delay 0 --retry-max-time 9 -o /dev/null "10.99.64.1$i"
done

for scheduler in wrr rr wlc sh mh; do
    in_host LB ipvsadm -R <"$scheduler.ipvs"
    ask 12 80 >"$scheduler.txt"
    # The first, since a server that comes back has its old counters; the kernel sums up every 2 s (ip_vs_est.c).
    [ "$scheduler" != wrr ] || { sleep 2.1 && in_host LB ipvsadm -L -n --stats --exact >counters.txt; }
done
in_host LB ipvsadm -S -n >exported.txt
in_host LB ipvsadm -C
in_host LB ipvsadm -S -n >left.txt
in_host LB ipvsadm -R <exported.txt
in_host LB ipvsadm -S -n >imported.txt

in_host LB ipvsadm -R <many.ipvs
in_host LB ipvsadm -S -n | grep -c -e '^-A' >many.txt
ask 3 19999 >many_asked.txt

for i in 1 2 3; do
    join "S$i" front "10.99.0.1$i"
    while read -r argv; do in_host "S$i" $argv; done <direct_routing.txt # words of our own
done
in_host LB ipvsadm -R <dr.ipvs
ask 12 80 >dr.txt
echo end >end.txt
[ "$1" = here ] || { sync; echo o >/proc/sysrq-trigger; sleep 5; }
