"""Where commands run: hosts, executors, processes and the facts of a machine; networks, limits and ssh below."""
