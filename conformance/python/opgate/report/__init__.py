"""Reports of a run for people and for the services that show them: the Python half of `opgate report`."""
