"""Tables of a machine's counters: `cpu`, `load`, `memory`, `disks`, `network`, `tcp`, `interrupts`, `processes`…"""

from loadcurve.tables.schemas.declare import RUN, SAMPLE, Table, at_least_0, count, name, number, ratio, time

CPU = Table(
    {
        **SAMPLE,
        "tool": name("sar, sadf, mpstat, vmstat or iostat."),
        "cpu": name("Processor number, or `all` for the mean over all processors."),
        "cpu_user_ratio": ratio("Time in user mode (without guests if the tool reports them separately)."),
        "cpu_nice_ratio": ratio("Time in user mode at lowered priority."),
        "cpu_system_ratio": ratio("Time in the kernel (without interrupts if the tool reports them separately)."),
        "cpu_iowait_ratio": ratio("Idle time with disk input or output outstanding."),
        "cpu_steal_ratio": ratio("Time in which the hypervisor ran other virtual machines."),
        "cpu_irq_ratio": ratio("Time in hardware interrupts."),
        "cpu_softirq_ratio": ratio("Time in software interrupts."),
        "cpu_guest_ratio": ratio("Time running a virtual processor."),
        "cpu_guest_nice_ratio": ratio("Time running a virtual processor at lowered priority."),
        "cpu_idle_ratio": ratio("Idle time without disk input or output outstanding."),
    },
    description="Processor time of each interval by mode (sar -u ALL -P ALL, mpstat, vmstat).",
)

LOAD = Table(
    {
        **SAMPLE,
        "tool": name("sar, sadf or vmstat."),
        "run_queue": count("Tasks that run or wait for a processor."),
        "tasks": count("Tasks in the task list."),
        "blocked": count("Tasks that wait for input or output."),
        "load_1min": at_least_0("Load average of the last minute."),
        "load_5min": at_least_0("Load average of the last 5 minutes."),
        "load_15min": at_least_0("Load average of the last 15 minutes."),
    },
    description="Queue of tasks and load averages (sar -q, vmstat).",
)

MEMORY = Table(
    {
        **SAMPLE,
        "tool": name("sar, sadf or vmstat."),
        "free_bytes": at_least_0("Unused memory."),
        "available_bytes": at_least_0("Memory available without swapping, as estimated by the kernel."),
        "used_bytes": at_least_0("Memory in use; whether buffers and caches are included depends on the version."),
        "used_ratio": at_least_0("Share of the memory in use."),
        "buffers_bytes": at_least_0("Kernel buffers."),
        "cached_bytes": at_least_0("Page cache."),
        "committed_bytes": at_least_0("Memory promised to programs."),
        "committed_ratio": at_least_0("Memory promised to programs as a share of memory and swap; may be over 1."),
        "active_bytes": at_least_0("Memory used recently."),
        "inactive_bytes": at_least_0("Memory not used recently."),
        "dirty_bytes": at_least_0("Memory that waits to be written to disk."),
        "anonymous_bytes": at_least_0("Pages of programs without a file."),
        "slab_bytes": at_least_0("Kernel objects."),
        "kernel_stack_bytes": at_least_0("Kernel stacks."),
        "page_table_bytes": at_least_0("Page tables."),
        "vmalloc_used_bytes": at_least_0("Virtual address space that the kernel uses."),
        "shared_bytes": at_least_0("Shared memory."),
        "swap_free_bytes": at_least_0("Swap space free."),
        "swap_used_bytes": at_least_0("Swap space in use."),
        "swap_used_ratio": at_least_0("Share of the swap space in use."),
        "swap_cached_bytes": at_least_0("Memory that was swapped out and in again, and still occupies swap space."),
        "swap_cached_ratio": at_least_0("Swap-cached memory as a share of the swap space in use."),
    },
    description="Memory and swap space (sar -r ALL, sar -S, vmstat).",
)

DISKS = Table(
    {
        **SAMPLE,
        "tool": name("sar, sadf or iostat."),
        "device": name("Disk or partition."),
        "transfers_per_s": at_least_0("Requests to the device."),
        "reads_per_s": at_least_0("Read requests, after merging."),
        "writes_per_s": at_least_0("Write requests, after merging."),
        "read_bytes_per_s": at_least_0("Bytes read."),
        "written_bytes_per_s": at_least_0("Bytes written."),
        "discarded_bytes_per_s": at_least_0("Bytes discarded."),
        "request_bytes": at_least_0("Mean size of a request."),
        "queue": at_least_0("Mean number of requests in the queue."),
        "wait_mean_s": at_least_0("Mean time of a request, queue included."),
        "read_wait_mean_s": at_least_0("Mean time of a read request, queue included."),
        "write_wait_mean_s": at_least_0("Mean time of a write request, queue included."),
        "service_mean_s": at_least_0("Mean service time, as estimated by old versions; unreliable."),
        "utilisation_ratio": at_least_0("Share of the time in which the device had work."),
    },
    description="Block devices (sar -d, iostat -dx).",
)

NETWORK = Table(
    {
        **SAMPLE,
        "tool": name("sar or sadf."),
        "interface": name("Network interface."),
        "received_pps": at_least_0("Packets received per second."),
        "transmitted_pps": at_least_0("Packets sent per second."),
        "received_bytes_per_s": at_least_0("Bytes received per second, link headers included."),
        "transmitted_bytes_per_s": at_least_0("Bytes sent per second, link headers included."),
        "received_compressed_pps": at_least_0("Compressed packets received per second."),
        "transmitted_compressed_pps": at_least_0("Compressed packets sent per second."),
        "received_multicast_pps": at_least_0("Multicast packets received per second."),
        "utilisation_ratio": at_least_0(
            "Share of the interface's nominal speed, or of the laboratory's rate limit; over 1 if that is wrong.",
        ),
        "received_errors_pps": at_least_0("Packets received with errors per second."),
        "transmitted_errors_pps": at_least_0("Errors while sending per second."),
        "collisions_per_s": at_least_0("Collisions while sending."),
        "received_dropped_pps": at_least_0("Received packets dropped per second, for lack of buffers."),
        "transmitted_dropped_pps": at_least_0("Packets to send dropped per second, for lack of buffers."),
        "carrier_errors_per_s": at_least_0("Carrier errors while sending."),
        "frame_errors_per_s": at_least_0("Frame alignment errors of received packets."),
        "received_overruns_per_s": at_least_0("FIFO overruns of received packets."),
        "transmitted_overruns_per_s": at_least_0("FIFO overruns of sent packets."),
    },
    description="Traffic and errors of each network interface (sar -n DEV,EDEV).",
)

TCP = Table(
    {
        **SAMPLE,
        "tool": name("sar or sadf."),
        "active_opens_per_s": at_least_0("Connections opened from this side."),
        "passive_opens_per_s": at_least_0("Connections accepted."),
        "segments_received_pps": at_least_0("TCP segments received."),
        "segments_sent_pps": at_least_0("TCP segments sent, without pure retransmissions."),
        "attempt_fails_per_s": at_least_0("Connections that failed while being opened."),
        "established_resets_per_s": at_least_0("Connections reset after they were established."),
        "retransmits_pps": at_least_0("TCP segments retransmitted."),
        "receive_errors_pps": at_least_0("TCP segments received with errors."),
        "resets_sent_pps": at_least_0("TCP segments sent with the RST flag."),
    },
    description="The kernel's TCP counters as rates (sar -n TCP and ETCP).",
)

INTERRUPTS = Table(
    {
        **SAMPLE,
        "tool": name("sar, sadf, mpstat or proc."),
        "kind": name("hard or soft."),
        "interrupt": name("Number or name: 0, NMI, NET_RX; `sum` for all of them."),
        "cpu": name("Processor number, or `all`."),
        "interrupts_per_s": at_least_0("Rate over the interval."),
        "interrupts": count("Count since the machine was started (/proc)."),
        "description": name("Description in /proc/interrupts: controller, trigger, device."),
    },
    description="Interrupts by processor (sar -I, mpstat -I, /proc/interrupts, /proc/softirqs).",
)

PROCESSES = Table(
    {
        **SAMPLE,
        "pid": count("Process ID; for a thread, the ID of its process."),
        "tid": count("Thread ID; missing for a process."),
        "uid": name("User, by number or name."),
        "command": name("Command, as pidstat prints it."),
        "cpu": name("Processor the task last ran on."),
        "cpu_user_ratio": at_least_0("Time in user mode, of one processor; over 1 for several threads."),
        "cpu_system_ratio": at_least_0("Time in the kernel, of one processor."),
        "cpu_guest_ratio": at_least_0("Time running a virtual processor."),
        "cpu_wait_ratio": at_least_0("Time waiting for a processor."),
        "cpu_used_ratio": at_least_0("Total time used, of one processor."),
        "minor_faults_per_s": at_least_0("Page faults without disk."),
        "major_faults_per_s": at_least_0("Page faults with disk."),
        "virtual_bytes": at_least_0("Virtual size."),
        "resident_bytes": at_least_0("Memory held."),
        "memory_ratio": at_least_0("Share of the machine's memory."),
        "read_bytes_per_s": at_least_0("Bytes read from disk."),
        "written_bytes_per_s": at_least_0("Bytes to be written to disk."),
        "cancelled_bytes_per_s": at_least_0("Bytes of writes that were cancelled, such as for a truncated file."),
        "io_delay_ticks": at_least_0("Block input and output delay, in clock ticks."),
        "voluntary_switches_per_s": at_least_0("Voluntary context switches of the task."),
        "involuntary_switches_per_s": at_least_0("Involuntary context switches of the task."),
        "stack_bytes": at_least_0("Stack reserved."),
        "stack_used_bytes": at_least_0("Stack in use."),
        "threads": count("Threads of the process."),
        "descriptors": count("File descriptors open."),
        "priority": name("Realtime priority."),
        "policy": name("Scheduling policy."),
    },
    description="Processes and threads (pidstat).",
)

_COUNTER = {
    "tool": name(
        "Tool that printed the counter: sar, nstat, netstat, ethtool, proc, ip, ipvsadm, nft, iptables, conntrack, "
        "cgroup."
    ),
    "group": name("Section, protocol or file that lists the counter, such as IpExt or sar -B."),
    "item": name("Device, processor or filesystem of the counter; missing if there is only one."),
    "counter": name("Name exactly as printed."),
    "value": number("Value, in the unit of the column `unit`."),
    "unit": name("bytes, bytes_per_s, per_s, pps, s, ratio, V, W; empty for a count or an unknown unit."),
}

COUNTERS = Table(
    {**SAMPLE, **_COUNTER},
    description="All numbers without a column of their own, by printed name: one row for each value.",
)

AVERAGES = Table(
    {**RUN, "host": SAMPLE["host"], "statistic": name("average, last, minimum, maximum or summary."), **_COUNTER},
    description="Averages computed by the tool itself, by printed name, not in the samples: one row for each value.",
)

EVENTS = Table(
    {
        **SAMPLE,
        "tool": name("sar, sadf, nginx or apache; loadcurve for events that it caused."),
        "event": name(
            "restart or comment; for an error log, the level: warn, error, alert; fault for an injected fault."
        ),
        "cpus": count("Processors after a restart."),
        "text": name("Text of a comment, or the message of an error log."),
    },
    description="Events of the machine and comments between the samples (LINUX RESTART, COM).",
)

HOSTS = Table(
    {
        **RUN,
        "host": name("Name of the host, as the tool prints it."),
        "tool": name("Tool that printed the heading."),
        "date": time("Start of the day in the heading, in the time zone given to the reader."),
        "kernel": name("Release of the kernel."),
        "system": name("Operating system: Linux, SunOS, AIX."),
        "architecture": name("Hardware, such as x86_64."),
        "cpus": count("Processors."),
    },
    description="Machines named in the headings of sar, mpstat, pidstat and iostat.",
)

SETTINGS = Table(
    {
        **SAMPLE,
        "tool": name("sysctl or proc; loadcurve for what run.json recorded."),
        "process": name("generator or server, if the setting is known to be of this process; missing otherwise."),
        "setting": name("Name as the kernel prints it: net.ipv4.ip_local_port_range, Max open files (the soft limit)."),
        "value": name("Value as printed: a number, several numbers, a word."),
    },
    description="Settings of kernels and limits of processes (sysctl, /proc/PID/limits, run.json): one row for each.",
)
