"""AOTInductor packages: how they are made and kept."""
