"""Parsers of load generators: wrk, ab, weighttp and others."""
