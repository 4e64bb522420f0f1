"""What an admin says that the models of a connected server give besides text."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("upstreams", sa.Column("outputs", sa.Text(), nullable=True))


def downgrade() -> None:
    raise NotImplementedError("Put a copy back: duologue backup --restore FILE")
