"""Recordings of calls and spoken chats."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "recordings",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("conversation", sa.Text(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("duration", sa.BigInteger(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("frames", sa.BigInteger(), nullable=False),
        sa.Column("ended", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="recordings_pkey"),
    )
    op.create_index("recordings_by_user", "recordings", ["user"])


def downgrade() -> None:
    raise NotImplementedError("Put a copy back: duologue backup --restore FILE")
