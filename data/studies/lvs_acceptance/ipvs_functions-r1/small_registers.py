"""Run a program to which ptrace shows only the registers that every x86-64 processor has.

user-mode-linux 6.1 cannot store the registers of a processor with AMX and stops ("ptrace set fp regs failed").  If it
is refused them, it uses the old call PTRACE_GETFPREGS, and its programs have only the registers of SSE.
As a program: ``small_registers.py COMMAND [ARGUMENT]...``.
"""

import ctypes
import os
import struct
import sys

# From linux/filter.h, linux/seccomp.h, linux/ptrace.h and the table of system calls of x86-64.
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | 22  # EINVAL
PTRACE, GETREGSET, SETREGSET = 101, 0x4204, 0x4205
PROGRAM = (
    (LOAD, 0, 0, 0),  # number of the call
    (EQUAL, 0, 4, PTRACE),
    (LOAD, 0, 0, 16),  # its first argument
    (EQUAL, 1, 0, GETREGSET),
    (EQUAL, 0, 1, SETREGSET),
    (RETURN, 0, 0, REFUSE),
    (RETURN, 0, 0, ALLOW),
)


class Filter(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("program", ctypes.c_void_p))


def main() -> None:
    """Install the filter, then run the command."""
    text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in PROGRAM))
    libc = ctypes.CDLL(None, use_errno=True)
    for words in (
        (38, 1, 0, 0, 0),  # PR_SET_NO_NEW_PRIVS
        (22, 2, ctypes.byref(Filter(len(PROGRAM), ctypes.addressof(text)))),  # PR_SET_SECCOMP, a filter
    ):
        if libc.prctl(*words) != 0:
            raise OSError(ctypes.get_errno(), "prctl")
    os.execvp(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
