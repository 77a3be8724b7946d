"""P: position."""
