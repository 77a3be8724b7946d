"""K: masks."""
