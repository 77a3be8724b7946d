"""A language made up for trying things out: sentence pairs whose true word alignment is known."""
