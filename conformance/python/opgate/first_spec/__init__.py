"""A first spec for every operator of a namespace, from its schema and the calls that were recorded."""
