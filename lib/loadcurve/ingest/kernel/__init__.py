"""The kernel's own counters."""
