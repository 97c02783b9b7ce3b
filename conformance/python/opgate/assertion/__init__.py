"""opgate.check: the checks inside an existing test, without a spec."""
