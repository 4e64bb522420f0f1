"""The tables of responses and conversations of OpenAI's API. `tables` imports them into the schema."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Table, Text

from duologue.store.schema.metadata import Number, Plain, metadata

# Conversations of OpenAI's API, which are not the chats of the page. `touched` is when one was last used, `size` the bytes of its items.
response_conversations = Table(
    "response_conversations",
    metadata,
    Column("id", Plain, primary_key=True),
    Column("user", Text, nullable=False, index=True),
    Column("metadata", Text, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("touched", BigInteger, nullable=False, index=True),
)

# Responses of OpenAI's API. `previous` is the response it continues, which may be gone: no foreign key.
responses = Table(
    "responses",
    metadata,
    Column("id", Plain, primary_key=True),
    Column("user", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("previous", Plain),
    Column("conversation", Plain),
    Column("background", Boolean, nullable=False),
    Column("response", Text, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("touched", BigInteger, nullable=False, index=True),
    Index("responses_by_user_touched", "user", "touched"),
)

# The items of responses and conversations: each row belongs to one of either.
response_items = Table(
    "response_items",
    metadata,
    Column("position", Number, primary_key=True, autoincrement=True),
    Column("response", ForeignKey("responses.id", ondelete="CASCADE"), nullable=True, index=True),
    Column(
        "conversation",
        ForeignKey("response_conversations.id", ondelete="CASCADE"),
        nullable=True,
        index=True,
    ),
    Column("user", Text, nullable=False),
    Column("id", Plain, nullable=False),
    Column("side", Text, nullable=False),
    Column("item", Text, nullable=False),
    Index("response_items_by_user_id", "user", "id"),
    sqlite_autoincrement=True,
)

# As `message_blobs`, of items.
response_item_blobs = Table(
    "response_item_blobs",
    metadata,
    Column("item", Number, ForeignKey("response_items.position", ondelete="CASCADE"), primary_key=True),
    Column("hash", Text, primary_key=True, index=True),
)
