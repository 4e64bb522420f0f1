"""Tools for training: what they do, their parameters, requests for them, and their results.

`catalogue/` holds everyday tools under many names; `invented_tools.py` makes up others. None of them exists.
"""
