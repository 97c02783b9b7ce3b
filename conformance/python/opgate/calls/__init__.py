"""One call of an operator or a model, and other calls that are made of it."""
