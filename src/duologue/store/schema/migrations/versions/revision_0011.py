"""What an admin says of how the models of a connected server write, and how long that server is waited for."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("upstreams", sa.Column("formats", sa.Text(), nullable=True))
    op.add_column("upstreams", sa.Column("timeouts", sa.Text(), nullable=True))


def downgrade() -> None:
    raise NotImplementedError("Put a copy back: duologue backup --restore FILE")
