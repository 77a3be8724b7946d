"""T: training and generation."""
