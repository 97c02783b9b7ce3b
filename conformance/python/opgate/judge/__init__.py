"""opgate judge: a verdict on a kernel that nobody trusts. docs/judge.md describes how it is reached."""
