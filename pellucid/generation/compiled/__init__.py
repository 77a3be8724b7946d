"""Language models compiled to a short program that a single kernel runs, limited only by memory bandwidth."""
