"""R: residual connections."""
