"""T: training, and writing."""
