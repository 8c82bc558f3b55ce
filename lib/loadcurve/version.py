"""Version of this package, which is written into every file of results."""

__version__ = "0.1.0"
