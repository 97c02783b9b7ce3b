"""Writes a first spec for every operator of a namespace, from its schema and its recorded calls."""
