"""Families that write one XML-like element for each parameter, with values that are plain text."""
