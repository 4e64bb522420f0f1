"""Families that write a call as a JSON object between markers of their own."""
