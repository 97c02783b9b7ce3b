"""What is judged: the file and its function or module, and the operators that a call reaches."""
