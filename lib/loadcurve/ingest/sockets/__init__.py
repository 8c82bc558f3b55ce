"""Sockets: ss."""
