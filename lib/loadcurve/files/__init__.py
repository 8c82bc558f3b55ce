"""Atomic file writes, YAML with line numbers, and CSV that is safe to open in a spreadsheet."""
