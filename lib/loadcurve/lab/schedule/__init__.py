"""Decide which point of a study runs next: points in random order, adaptive searches, stop rules."""
