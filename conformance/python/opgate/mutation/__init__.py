"""Makes mutants of an operator library's sources; see docs/mutation.md."""
