"""The Python worker: the process that `opgate` starts to judge calls in Python."""
