"""The database: what is kept, and how it is found again. Knows no run, no model and no HTTP."""
