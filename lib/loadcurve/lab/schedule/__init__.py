"""Which point of a study comes next: points in random order, adaptive searches, stop rules."""
