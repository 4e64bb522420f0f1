"""The workshop of duologue-mini, the language model bundled with Duologue: data, training, export and evaluation.

The server imports nothing of it. Only `evaluation` imports the server, as an installed package.
"""
