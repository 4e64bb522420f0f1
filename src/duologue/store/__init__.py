"""The database: tables, queries and full-text search."""
