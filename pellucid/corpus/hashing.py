"""Hashes of texts that are the same in every process and on every machine, unlike Python's `hash`."""

from hashlib import blake2b

__all__ = ["hash_text"]


def hash_text(text: str) -> int:
    """Hash a text to 64 bits, 0 to 2⁶⁴ − 1."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
