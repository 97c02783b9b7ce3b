"""`python -m opgate.judge`: started by `opgate judge`."""

import sys

from opgate.judge.run import Request, prepare, run
from opgate.request import asked, status_of

prepare()
sys.exit(status_of(lambda: run(Request(**asked()))))
