"""What an admin says of how the models of a connected server sample."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("upstreams", sa.Column("presets", sa.Text(), nullable=True))


def downgrade() -> None:
    raise NotImplementedError("Put a copy back: duologue backup --restore FILE")
