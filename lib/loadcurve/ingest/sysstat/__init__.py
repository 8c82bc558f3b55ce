"""Parsers of sysstat and vmstat."""
