"""`python -m opgate.judge`: started by `opgate judge`."""

import sys

from opgate.judge.run import prepare, run

prepare()
sys.exit(run(sys.argv[1:]))
