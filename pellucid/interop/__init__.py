"""Models of other programs: GGUF files and Hugging Face folders, converted to model folders of Pellucid."""
