"""One call in a worker: audio in, transcripts, turn taking, audio out."""
