"""The engine that fits the torch that is here: the wheel's, or one that `opgate engine build` made."""
