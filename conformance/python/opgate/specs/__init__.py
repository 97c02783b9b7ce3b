"""What authors of specs import: the operator, its samples, and what it promises."""
