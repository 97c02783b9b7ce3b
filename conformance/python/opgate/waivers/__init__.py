"""`opgate waive --from`: lists of known failures that a project has already become waivers of the gate."""
