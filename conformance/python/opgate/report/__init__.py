"""Reports of a run, for people and for the services that show them: `opgate report`."""
