"""Responses and conversations of OpenAI's API, and their items."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    conversations = _texts("id", "user", "metadata") + _numbers("size", "created", "touched")
    _create("response_conversations", ["id"], *conversations)
    texts = _texts("id", "user", "status", "response") + _texts("previous", "conversation", nullable=True)
    background: sa.Column[bool] = sa.Column("background", sa.Boolean(), nullable=False)
    _create("responses", ["id"], *texts, background, *_numbers("size", "created", "touched"))
    position: sa.Column[int] = sa.Column("position", NUMBER, autoincrement=True, nullable=False)
    owners = _texts("response", "conversation", nullable=True)
    keys = [_key("response_items", "response", "responses.id")]
    keys.append(_key("response_items", "conversation", "response_conversations.id"))
    items: list[sa.schema.SchemaItem] = [position, *owners, *_texts("user", "id", "side", "item"), *keys]
    _create("response_items", ["position"], *items, sqlite_autoincrement=True)
    item: sa.Column[int] = sa.Column("item", NUMBER, nullable=False)
    of_item = _key("response_item_blobs", "item", "response_items.position")
    _create("response_item_blobs", ["item", "hash"], item, *_texts("hash"), of_item)
    for table, *columns in (
        ("response_conversations", "user"), ("response_conversations", "touched"),
        ("responses", "touched"), ("responses", "user", "touched"),
        ("response_items", "response"), ("response_items", "conversation"), ("response_items", "user", "id"),
        ("response_item_blobs", "hash"),
    ):  # fmt: skip
        op.create_index(f"{table}_by_{'_'.join(columns)}", table, columns)


def _create(table: str, key: list[str], *parts: sa.schema.SchemaItem, **options: bool) -> None:
    op.create_table(table, *parts, sa.PrimaryKeyConstraint(*key, name=f"{table}_pkey"), **options)


def _texts(*names: str, nullable: bool = False) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text(), nullable=nullable) for name in names]


def _numbers(*names: str) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.BigInteger(), nullable=False) for name in names]


def _key(table: str, column: str, other: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [other], name=f"{table}_{column}_fkey", ondelete="CASCADE")


def downgrade() -> None:
    raise NotImplementedError("Put a copy back: duologue backup --restore FILE")
