"""R: the residual sum."""
