"""The calls of one candidate, what was wrong with their results, and the verdict."""
