"""How duologue-mini, the bundled language model, is made: data, training, export and evaluation.

Nothing here is imported by the server, and nothing here imports the server.
"""
