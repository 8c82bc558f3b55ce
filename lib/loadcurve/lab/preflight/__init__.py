"""Checks before a launch: obstacles on this machine, the targets that may be loaded, and a dry run."""
