"""What the real parts would be without one idea: each beside the part it varies, for experiments only."""
