"""What the rules about monitored hosts need, which command records it, and the limit that several of them share."""

from loadcurve.audit.rule import Limit, Need
from loadcurve.tables.curves import SATURATED_RATIO

SATURATION = Limit(
    SATURATED_RATIO,
    "at 90 % a request waits on average nine times its service time at a single server (M/M/1), and less at several "
    "servers; the bottleneck report has the same limit",
)

_SAR = "Record `sar -A 1` on the server and on the generator while the load runs."

CPU = Need("cpu", ("cpu_idle_ratio",), "the use of the processors", _SAR)
STEAL = Need("cpu", ("cpu_steal_ratio",), "the steal time of the processors", _SAR)
SOFTIRQ = Need("cpu", ("cpu_softirq_ratio",), "the softirq time of the processors", _SAR)
IOWAIT = Need("cpu", ("cpu_iowait_ratio",), "the time for which processors waited for disks", _SAR)
DISKS = Need("disks", ("utilisation_ratio",), "the use of the disks", _SAR)
LINKS = Need("network", ("utilisation_ratio",), "the use of the links", _SAR)
PACKETS = Need("network", ("received_pps", "transmitted_pps"), "the packets of the interfaces", _SAR)
DROPS = Need("network", ("received_dropped_pps",), "the packets that interfaces dropped", _SAR)
TCP = Need("tcp", ("segments_sent_pps", "retransmits_pps"), "the retransmissions of TCP", _SAR)
SWAP = Need("memory", ("swap_used_bytes",), "the swap in use", _SAR)
THREADS = Need(
    "processes",
    ("cpu_used_ratio", "command"),
    "the processor time of the generator's threads",
    "Record `pidstat -u -t 1` on the generator's host while the load runs.",
)
SNAPSHOT = Need("connections", ("state", "local_port"), "the sockets of the server", "Record `ss -tan` on the server.")
LISTENING = Need(
    "connections", ("state", "receive_queue", "send_queue"), "the listening sockets", "Record `ss -tan` on the server."
)
