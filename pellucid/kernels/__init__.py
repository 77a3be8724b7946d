"""How inner loops are compiled: Numba kernels, SIMD instructions, and barriers between threads."""
