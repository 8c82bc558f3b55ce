"""What sysstat and vmstat say of a machine."""
