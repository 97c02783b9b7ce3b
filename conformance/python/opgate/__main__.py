"""`python -m opgate`: the Python worker; started by `opgate`, not by users."""

import sys

from opgate.worker import main

sys.exit(main())
