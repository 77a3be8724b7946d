"""H: claims about multi-head attention."""
