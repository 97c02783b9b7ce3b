"""The checks of the Python half, one module each."""
