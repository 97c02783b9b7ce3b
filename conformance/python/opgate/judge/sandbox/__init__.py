"""A candidate's process: how it is started, isolated and asked."""
