"""`python -m opgate`: the Python worker; started by `opgate`, not by users."""

from opgate.worker.serving import main

main()
