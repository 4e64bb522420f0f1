"""The key that made a batch."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("batches", sa.Column("key", sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    raise NotImplementedError("Put a copy back: duologue backup --restore FILE")
