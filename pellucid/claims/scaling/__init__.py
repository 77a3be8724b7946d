"""S: the division by √d."""
