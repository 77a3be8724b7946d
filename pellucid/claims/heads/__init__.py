"""H: many heads."""
