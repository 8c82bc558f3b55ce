"""Notebooks as texts: their parameters and captions; the notebook that is copied beside the reader's own files."""
