"""M: matrices as changes of space."""
