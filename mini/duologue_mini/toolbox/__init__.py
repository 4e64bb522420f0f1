"""Tools that exist nowhere: what they do, what they take, how people ask for them, what they answer.

The catalogue holds everyday tools under many names; the workshop invents the others.
"""
