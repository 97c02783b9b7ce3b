"""`python -m opgate`: the Python worker; started by `opgate`, not by users."""

from opgate.worker import main

main()
