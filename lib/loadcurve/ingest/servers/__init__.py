"""Web servers: status pages, access logs, error logs."""
