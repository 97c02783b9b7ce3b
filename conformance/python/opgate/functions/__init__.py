"""Functions and methods as subjects of checks: operators that are registered in this process alone."""
