"""Load generators: wrk, ab, weighttp and their like."""
