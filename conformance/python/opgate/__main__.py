"""`python -m opgate`: the Python worker; started by `opgate`, not by users."""

from opgate.worker.worker import main

main()
