"""What an admin says that the models of a connected server take."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("upstreams", sa.Column("modalities", sa.Text(), nullable=True))


def downgrade() -> None:
    raise NotImplementedError("Put a copy back: duologue backup --restore FILE")
