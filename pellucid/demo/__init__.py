"""An artificial language for demonstrations: sentence pairs whose true word alignment is known."""
