"""The gateways of this database, which of them writes a run, and which has loaded a model."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "gateways",
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("id", "instance", "address", "version")),
        sa.Column("protocol", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in ("started", "lease_until")),
        sa.PrimaryKeyConstraint("id", name="gateways_pkey"),
    )
    op.create_index("gateways_by_lease_until", "gateways", ["lease_until"])
    for table, column in (("runs", "gateway"), ("remembered_loads", "instance")):
        op.add_column(table, sa.Column(column, sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    raise NotImplementedError("Put a copy back: duologue backup --restore FILE")
