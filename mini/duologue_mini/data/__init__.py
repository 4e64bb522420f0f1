"""From scenes to packed rows: dialogues, the curriculum, shards. `python -m duologue_mini.data.corpus` makes a corpus."""
