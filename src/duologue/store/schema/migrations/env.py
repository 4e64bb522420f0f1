"""What Alembic runs to migrate: on the connection it is handed, in the transaction that is open there.

Knows no address and no configuration; `duologue.store.schema.migrate` calls it.
"""

from alembic import context

from duologue.store.schema import tables

connection = context.config.attributes["connection"]
# Batches rebuild a table where SQLite cannot alter it; the connection was opened with foreign keys off.
context.configure(connection=connection, target_metadata=tables.metadata, render_as_batch=True)
context.run_migrations()
