"""What admins load and choose while the server runs."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "remembered_loads",
        sa.Column("id", NUMBER, autoincrement=True, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("sizes", sa.Text(), nullable=False),
        sa.Column("another", sa.Boolean(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("loading", sa.Boolean(), nullable=False),
        sa.Column("failed", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="remembered_loads_pkey"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "server_choices",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("updated", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="server_choices_pkey"),
    )


def downgrade() -> None:
    raise NotImplementedError("Put a copy back: duologue backup --restore FILE")
