"""`python -m opgate.judge`: started by `opgate judge`."""

import sys

from opgate.judge.run import Request, prepare, run
from opgate.request import asked

prepare()
sys.exit(run(Request(**asked())))
