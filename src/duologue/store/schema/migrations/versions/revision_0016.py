"""Names and ends of keys, what is known of a login, and the audit log."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _add("keys", _text("label"), _number("expires"))
    _add("logins", _number("last_seen"), _text("address"), _text("agent"))
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "audit",
        sa.Column("number", number, autoincrement=True, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        *(
            sa.Column(name, sa.Text(), nullable=False)
            for name in ("user", "name", "key_id", "act", "target", "outcome", "address", "details")
        ),
        sa.PrimaryKeyConstraint("number", name="audit_pkey"),
        sqlite_autoincrement=True,
    )
    op.create_index("audit_by_at", "audit", ["at"])


def _add(table: str, *columns: sa.Column[str] | sa.Column[int]) -> None:
    for column in columns:
        op.add_column(table, column)


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False, server_default="")


def _number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=False, server_default="0")


def downgrade() -> None:
    raise NotImplementedError("Put a copy back: duologue backup --restore FILE")
