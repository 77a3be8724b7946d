"""A language model compiled to a short program, which one kernel runs: a token at a time at the speed of memory."""
