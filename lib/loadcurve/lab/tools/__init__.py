"""What the laboratory starts: load generators, servers, balancers, monitors and faults."""
