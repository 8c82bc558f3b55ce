"""``python -m loadcurve``."""

from loadcurve.cli import main

main()
