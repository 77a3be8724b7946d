"""E: words as vectors."""
