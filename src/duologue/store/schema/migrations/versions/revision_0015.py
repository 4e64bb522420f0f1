"""Limits of keys, usage by key and day, and the key of logins and batches."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # What was there before has no limits of its own, and nobody knows its key.
    for table, column in (("keys", "limits"), ("logins", "key_id"), ("batches", "key")):
        op.add_column(table, sa.Column(column, sa.Text(), nullable=True))
    texts = [sa.Column(name, sa.Text(), nullable=False) for name in ("day", "key", "model", "kind")]
    owner = [sa.Column(name, sa.Text(), nullable=False) for name in ("user", "name", "prefix")]
    counts = [
        sa.Column(name, sa.BigInteger(), nullable=False)
        for name in ("requests", "errors", "prompt", "cached", "completion", "heard_ms", "spoken_ms")
    ]
    key = sa.PrimaryKeyConstraint("day", "key", "model", "kind", name="usage_pkey")
    op.create_table("usage", *texts, *owner, *counts, key)
    op.create_index("usage_by_user_day", "usage", ["user", "day"])


def downgrade() -> None:
    raise NotImplementedError("Put a copy back: duologue backup --restore FILE")
