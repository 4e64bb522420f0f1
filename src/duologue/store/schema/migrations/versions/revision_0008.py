"""What was made of the files of a reply's prompt is kept with the reply."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("messages", sa.Column("fitted", sa.Text(), nullable=True))


def downgrade() -> None:
    raise NotImplementedError("Put a copy back: duologue backup --restore FILE")
