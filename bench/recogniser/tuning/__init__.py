"""Makes what the embedded recogniser knows: which sentences are said to duologue-mini, and how synthetic voices sound.

`python -m recogniser.tuning` writes `src/duologue/engines/sphinx/data/` from the generators of this folder's neighbours, from
`talk.py`, and from voices that espeak-ng speaks. Knows no server.
"""
