"""Copies of the database: whole backups with all files, daily copies, and whether a database is damaged."""
