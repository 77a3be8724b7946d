"""A: attention."""
