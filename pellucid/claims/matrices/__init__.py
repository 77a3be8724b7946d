"""M: matrices as transformations of space."""
