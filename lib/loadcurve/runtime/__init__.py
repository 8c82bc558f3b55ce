"""What a command runs in: signals, worker processes, a Dask cluster, progress, a Jupyter kernel, git."""
