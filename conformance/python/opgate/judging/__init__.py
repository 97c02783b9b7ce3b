"""How a call is judged: the registry of checks, a judgement, and what explains it."""
