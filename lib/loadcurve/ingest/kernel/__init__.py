"""Counters of the kernel."""
