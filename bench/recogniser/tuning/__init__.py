"""Builds the data of the bundled recogniser: language model, dictionary, adapted acoustic model, confidence weights.

The sentences come from the generators of duologue-mini (`mini/`) and from `spoken_phrases.py`, the sound from espeak-ng. The
results are committed in `bench/recogniser/synthetic/`.
"""
