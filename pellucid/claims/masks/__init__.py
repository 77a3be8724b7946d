"""K: who may look at whom."""
