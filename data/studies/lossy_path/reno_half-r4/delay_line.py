"""A link with delay for kernels without netem: two TAP devices, and a queue in user space between them.

    delay_line.py NAMESPACE DEVICE NAMESPACE DEVICE DELAY_S

It creates the devices, prints ``ready`` and forwards frames until it is killed; the devices are removed with it.  Each
direction has its own process.  A bare interpreter runs this file, so it imports nothing of the package.
"""

import ctypes
import fcntl
import os
import select
import signal
import struct
import sys
import time
from collections import deque

# linux/if_tun.h
_TUNSETIFF, _TUNSETOFFLOAD = 0x400454CA, 0x400454D0
_IFF_TAP, _IFF_NO_PI, _IFF_VNET_HDR = 0x0002, 0x1000, 0x4000
# Checksum and segmentation of IPv4 and IPv6 are left to the reader: a frame may hold 64 KiB, carried in one piece.
_TUN_F_CSUM, _TUN_F_TSO4, _TUN_F_TSO6 = 0x01, 0x02, 0x04
_LARGEST_FRAME_BYTES = 10 + 65536 + 18  # struct virtio_net_hdr, packet, Ethernet header with a tag
_CLONE_NEWNET = 0x40000000  # linux/sched.h
_PR_SET_PDEATHSIG, _PR_SET_TIMERSLACK = 1, 29  # linux/prctl.h
# What does not fit is dropped, as by a router: room for 100 ms of 5 Gbit/s.  A frame that waits takes some more.
_ROOM_BYTES, _FRAME_BYTES = 64 * 2**20, 200
_AT_ONCE = 64  # frames read before those that are due are sent

_LIBC = ctypes.CDLL(None, use_errno=True)


def open_tap(namespace: str, device: str) -> int:
    """File descriptor of a new TAP device in a namespace; the process stays in that namespace."""
    with open(f"/run/netns/{namespace}", "rb") as file:  # noqa: PTH123 – pathlib would double the time to start
        if _LIBC.setns(file.fileno(), _CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"setns {namespace}")
    tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    fcntl.ioctl(tap, _TUNSETIFF, struct.pack("16sH22x", device.encode(), _IFF_TAP | _IFF_NO_PI | _IFF_VNET_HDR))
    fcntl.ioctl(tap, _TUNSETOFFLOAD, _TUN_F_CSUM | _TUN_F_TSO4 | _TUN_F_TSO6)
    return tap


def carry(source: int, sink: int, delay_s: float) -> None:
    """Forward frames, each `delay_s` after its arrival; never return."""
    waiting: deque[tuple[float, bytes]] = deque()
    read, write, now, wait = os.read, os.write, time.monotonic, select.select
    poll, held = [source], 0
    while True:
        wait(poll, [], [], max(0.0, waiting[0][0] - now()) if waiting else None)
        try:
            for _ in range(_AT_ONCE):
                frame = read(source, _LARGEST_FRAME_BYTES)
                if held < _ROOM_BYTES:
                    waiting.append((now() + delay_s, frame))
                    held += len(frame) + _FRAME_BYTES
        except BlockingIOError:
            pass
        except OSError:  # the device is down, as it is until it has been configured
            time.sleep(0.001)
        while waiting and waiting[0][0] <= now():
            frame = waiting.popleft()[1]
            held -= len(frame) + _FRAME_BYTES
            try:
                write(sink, frame)
            except OSError:
                continue  # lost: the device is down, or its queue is full


def main(argv: list[str]) -> None:
    """Create both devices, print ``ready``, and forward in both directions."""
    near, far = open_tap(argv[0], argv[1]), open_tap(argv[2], argv[3])
    delay_s, parent = float(argv[4]), os.getpid()
    if os.fork() == 0:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
        near, far = far, near
    else:
        os.write(1, b"ready\n")
    _LIBC.prctl(_PR_SET_TIMERSLACK, 1)  # in ns; the default lets every wait last 50 µs longer
    carry(near, far, delay_s)


if __name__ == "__main__":
    main(sys.argv[1:])
