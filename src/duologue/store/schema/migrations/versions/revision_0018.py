"""What several gateways share: parts of the limits of keys, claims, results of batches."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "limit_parts",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("parts", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="limit_parts_pkey"),
    )
    op.create_table(
        "claims",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("gateway", sa.Text(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="claims_pkey"),
    )
    op.create_index("claims_by_gateway", "claims", ["gateway"])
    op.create_table(
        "batch_results",
        sa.Column("batch", sa.Text(), nullable=False),
        sa.Column("line", sa.LargeBinary(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("batch", "line", name="batch_results_pkey"),
    )
    op.create_index("batch_results_in_order", "batch_results", ["batch", "number"])


def downgrade() -> None:
    raise NotImplementedError("Put a copy back: duologue backup --restore FILE")
