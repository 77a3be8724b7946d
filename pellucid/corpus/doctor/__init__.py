"""Find what is wrong with a text, by file and line, before training."""
