"""Settings of the server that admins change while it runs."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "server_settings",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("updated", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="server_settings_pkey"),
    )


def downgrade() -> None:
    raise NotImplementedError("Put a copy back: duologue backup --restore FILE")
