"""Balancers and connection tracking."""
