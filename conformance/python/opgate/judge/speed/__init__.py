"""How fast a correct candidate is, beside the reference and torch.compile of it."""
