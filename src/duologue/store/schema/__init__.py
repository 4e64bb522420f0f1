"""The database's tables, rows and migrations."""
