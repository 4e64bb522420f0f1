"""How a model file is tested: fresh draws of the generators, the hand-written cases, speed.

The only package that imports the server, and only as an installed package.
"""
