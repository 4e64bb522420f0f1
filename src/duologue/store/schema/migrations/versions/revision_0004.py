"""Recordings of voices to speak with."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "custom_voices",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("sound", sa.LargeBinary(), nullable=False),
        sa.Column("duration", sa.BigInteger(), nullable=False),
        sa.Column("shared", sa.Boolean(), nullable=False),
        sa.Column("statement", sa.Text(), nullable=False),
        sa.Column("agreed", sa.BigInteger(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="custom_voices_pkey"),
    )
    op.create_index("custom_voices_by_user", "custom_voices", ["user"])


def downgrade() -> None:
    raise NotImplementedError("Put a copy back: duologue backup --restore FILE")
