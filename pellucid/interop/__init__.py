"""Other people's models: GGUF files and Hugging Face folders, read into a model folder of Pellucid."""
