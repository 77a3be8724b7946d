"""P: where a word stands."""
