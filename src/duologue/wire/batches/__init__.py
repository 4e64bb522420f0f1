"""OpenAI's files and batches: their bodies, and the lines of a batch's input and results."""
