"""The drawn portraits, one a file. `faces/catalogue.py` knows them by name."""
