"""The project's Python modules: where they are, what they read and what they register."""
