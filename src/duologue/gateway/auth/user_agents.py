"""A browser in a few words, for the list of sign-ins: pure. `sessions` keeps this description, not what the browser sent."""

from __future__ import annotations

import re

BROWSERS = (
    ("Edg", "Edge"),
    ("OPR", "Opera"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Vivaldi", "Vivaldi"),
    ("FxiOS", "Firefox"),
    ("Firefox", "Firefox"),
    ("CriOS", "Chrome"),
    ("HeadlessChrome", "Chrome"),
    ("Chrome", "Chrome"),
    ("Version", "Safari"),
)
"""Products of a User-Agent header and their names. The first that occurs counts: most browsers also name older ones."""
SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)
LONGEST = 40
"""Characters of the name of a program that is no browser."""


def described_agent(header: str) -> str:
    """`Firefox, Linux`; the name of a program that is no browser, such as `curl`; "" for a header without a name."""
    browser = next((name for sign, name in BROWSERS if re.search(rf"\b{sign}[A-Za-z]*/", header)), "")
    if not browser:
        program = re.match(r"[A-Za-z][\w.+-]*", header)
        browser = "" if program is None or program[0] == "Mozilla" else program[0][:LONGEST]
    system = next((name for sign, name in SYSTEMS if sign in header), "")
    return ", ".join(filter(None, (browser, system)))
