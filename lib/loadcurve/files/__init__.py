"""Paths, atomic file writes, folders at a URL, and YAML with line numbers."""
