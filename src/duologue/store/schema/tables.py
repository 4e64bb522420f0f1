"""The tables in SQLAlchemy Core, and the statements that only SQLite or only PostgreSQL needs.

Owns the present schema; `migrations` brings older ones up to it. Times are milliseconds since 1970 (UTC), 0 for "not yet"; JSON is
text written by msgspec. `user` is the id of a user, "local" without keys. It is not a foreign key, because `local` need not be a
row of `users`.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.types import UserDefinedType

from duologue.store.schema.batch_tables import batches as batches
from duologue.store.schema.batch_tables import stored_files as stored_files
from duologue.store.schema.cluster_tables import gateways as gateways
from duologue.store.schema.metadata import Number as Number
from duologue.store.schema.metadata import Plain as Plain
from duologue.store.schema.metadata import metadata as metadata
from duologue.store.schema.response_tables import responses as responses
from duologue.store.schema.sharing_tables import batch_results as batch_results
from duologue.store.schema.sharing_tables import claims as claims
from duologue.store.schema.sharing_tables import limit_parts as limit_parts
from duologue.store.schema.usage_tables import usage as usage

HEAD = "0018"
"""The revision of this schema. Revisions are four-digit numbers, so that they can be compared as text."""


def _named_values(table: str) -> Table:
    """A table of JSON values by name, with the time of their last change."""
    return Table(
        table,
        metadata,
        Column("name", Text, primary_key=True),
        Column("value", Text, nullable=False),
        Column("updated", BigInteger, nullable=False),
    )


revision = Table("alembic_version", metadata, Column("version_num", Text, primary_key=True))

folders = Table(
    "folders",
    metadata,
    Column("id", Text, primary_key=True),
    Column("user", Text, nullable=False, index=True),
    Column("name", Plain, nullable=False),
    Column("parent", ForeignKey("folders.id", ondelete="SET NULL"), nullable=True, index=True),
    Column("created", BigInteger, nullable=False),
)

conversations = Table(
    "conversations",
    metadata,
    Column("id", Text, primary_key=True),
    Column("user", Text, nullable=False),
    Column("title", Plain, nullable=False),
    Column("title_words", Text, nullable=False),
    Column("title_source", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("updated", BigInteger, nullable=False),
    Column("leaf", Text),
    Column("folder", ForeignKey("folders.id", ondelete="SET NULL"), nullable=True, index=True),
    Column("pinned", Boolean, nullable=False),
    Column("archived", Boolean, nullable=False),
    Column("temporary", Boolean, nullable=False),
    Column("deleted", BigInteger, nullable=False),
    Column("tags", Text, nullable=False),
    Column("forked_from", Text),
    Column("options", Text, nullable=False),
    Column("running", Text),
    Index("conversations_as_listed", "user", "archived", "pinned", "updated", "id"),
)
Index(
    "conversations_to_purge",
    conversations.c.deleted,
    sqlite_where=conversations.c.deleted > 0,
    postgresql_where=conversations.c.deleted > 0,
)

messages = Table(
    "messages",
    metadata,
    Column("sequence", Number, primary_key=True, autoincrement=True),
    Column("conversation", ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False),
    Column("id", Text, nullable=False),
    Column("parent", Text),
    Column("role", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("active", Boolean, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("edited", BigInteger, nullable=False),
    Column("run", Text, nullable=False),
    Column("model", Plain, nullable=False),
    Column("finish", Text),
    Column("tool_call_id", Plain, nullable=False),
    Column("content", Text, nullable=False),
    Column("reasoning", Text, nullable=False),
    Column("tool_calls", Text, nullable=False),
    Column("call", Text),
    Column("usage", Text),
    Column("timings", Text),
    Column("error", Text),
    Column("fitted", Text),
    UniqueConstraint("conversation", "id"),
    # Checked at the end of the transaction: a branch comes, moves and goes in any order of its rows, and a parent in
    # another conversation is impossible.
    ForeignKeyConstraint(
        ["conversation", "parent"],
        ["messages.conversation", "messages.id"],
        deferrable=True,
        initially="DEFERRED",
    ),
    Index("messages_by_conversation_parent", "conversation", "parent"),
    sqlite_autoincrement=True,
)
Index(
    "messages_unfinished",
    messages.c.conversation,
    sqlite_where=messages.c.status == "running",
    postgresql_where=messages.c.status == "running",
)

blobs = Table(
    "blobs",
    metadata,
    Column("hash", Text, primary_key=True),
    Column("mime", Text, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("width", Integer, nullable=False),
    Column("height", Integer, nullable=False),
    Column("duration", BigInteger, nullable=False),
)

blob_owners = Table(
    "blob_owners",
    metadata,
    Column("hash", ForeignKey("blobs.hash", ondelete="CASCADE"), primary_key=True),
    Column("user", Text, primary_key=True),
    Column("name", Plain, nullable=False),
    Column("created", BigInteger, nullable=False),
)

# No foreign key to `blobs`: a row that names a file which is gone is a row all the same.
message_blobs = Table(
    "message_blobs",
    metadata,
    Column("message", Number, ForeignKey("messages.sequence", ondelete="CASCADE"), primary_key=True),
    Column("hash", Text, primary_key=True, index=True),
)

runs = Table(
    "runs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("conversation", ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("user", Text, nullable=False),
    Column("request", LargeBinary, nullable=False),
    Column("started", BigInteger, nullable=False),
    Column("ended", BigInteger, nullable=False, index=True),
    Column("outcome", Text),
    Column("waiting", Text, nullable=False),
    Column("error", Text),
    Column("turns", Integer, nullable=False),
    Column("gateway", Text, nullable=False, server_default=""),
)

run_log = Table(
    "run_log",
    metadata,
    Column("run", ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("first", Integer, primary_key=True, autoincrement=False),
    Column("last", Integer, nullable=False),
    Column("lengths", Text, nullable=False),
    Column("event", LargeBinary, nullable=False),
)

approvals = Table(
    "approvals",
    metadata,
    Column("id", Text, primary_key=True),
    Column("run", ForeignKey("runs.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("conversation", ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("user", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("server", Text, nullable=False),
    Column("tool", Plain, nullable=False),
    Column("arguments", Plain, nullable=False),
    Column("message", Plain, nullable=False),
    Column("schema", Text, nullable=False),
    Column("url", Plain, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("expires", BigInteger, nullable=False),
    Column("answered", BigInteger, nullable=False),
    Column("decision", Text),
    Column("values", Text, nullable=False),
    Index("approvals_by_user_answered", "user", "answered"),
)

permissions = Table(
    "permissions",
    metadata,
    Column("user", Text, primary_key=True),
    Column("server", Text, primary_key=True),
    Column("tool", Text, primary_key=True),
    Column("created", BigInteger, nullable=False),
)

pending = Table(
    "pending",
    metadata,
    Column("position", Number, primary_key=True, autoincrement=True),
    Column("conversation", ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False),
    Column("id", Text, nullable=False),
    Column("user", Text, nullable=False),
    Column("how", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("options", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
    UniqueConstraint("conversation", "id"),
    sqlite_autoincrement=True,
)

drafts = Table(
    "drafts",
    metadata,
    Column("user", Text, primary_key=True),
    Column("conversation", Text, primary_key=True),
    Column("value", Text, nullable=False),
    Column("updated", BigInteger, nullable=False),
)

server_settings = _named_values("server_settings")

user_settings = Table(
    "user_settings",
    metadata,
    Column("user", Text, primary_key=True),
    Column("value", Text, nullable=False),
    Column("updated", BigInteger, nullable=False),
)

mcp_servers = Table(
    "mcp_servers",
    metadata,
    Column("name", Text, primary_key=True),
    Column("config", Text, nullable=False),
    Column("user", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
)

mcp_tokens = Table(
    "mcp_tokens",
    metadata,
    Column("server", Text, primary_key=True),
    Column("user", Text, primary_key=True),
    Column("value", Text, nullable=False),
    Column("updated", BigInteger, nullable=False),
)

# What admins loaded while the server ran, one row a worker, in the order of their loads.
remembered_loads = Table(
    "remembered_loads",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=True),
    Column("name", Plain, nullable=False),
    Column("sizes", Text, nullable=False),
    Column("another", Boolean, nullable=False),
    Column("user", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("loading", Boolean, nullable=False),
    Column("failed", Plain, nullable=False),
    # The data folder of the gateway that has loaded it; "" where there is one gateway.
    Column("instance", Text, nullable=False, server_default=""),
    sqlite_autoincrement=True,
)

# What admins chose for the whole server while it ran, by name.
server_choices = _named_values("server_choices")

# `key` is encrypted; `seen` are the models a server had when it was last asked; `modalities`, `outputs`, `formats`
# and `presets` what an admin said that models take and give, and how they write and sample.
upstreams = Table(
    "upstreams",
    metadata,
    Column("name", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("key", LargeBinary),
    Column("chosen", Plain, nullable=False),
    Column("seen", Plain, nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("user", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("modalities", Plain),
    Column("outputs", Plain),
    Column("formats", Plain),
    Column("timeouts", Plain),
    Column("presets", Plain),
)

# Recordings of voices to speak with. `sound` is 16-bit mono PCM at 16 kHz; `statement` is what its owner agreed to at `agreed`.
custom_voices = Table(
    "custom_voices",
    metadata,
    Column("id", Text, primary_key=True),
    Column("user", Text, nullable=False, index=True),
    Column("name", Plain, nullable=False),
    Column("text", Plain, nullable=False),
    Column("sound", LargeBinary, nullable=False),
    Column("duration", BigInteger, nullable=False),
    Column("shared", Boolean, nullable=False),
    Column("statement", Plain, nullable=False),
    Column("agreed", BigInteger, nullable=False),
    Column("created", BigInteger, nullable=False),
)

# Faces that people brought. `landmarks` is JSON, of a picture that is marked; `statement` is what its owner agreed to at `agreed`.
avatars = Table(
    "avatars",
    metadata,
    Column("id", Text, primary_key=True),
    Column("user", Text, nullable=False, index=True),
    Column("name", Plain, nullable=False),
    Column("kind", Text, nullable=False),
    Column("mime", Text, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("digest", Text, nullable=False),
    Column("width", Integer, nullable=False),
    Column("height", Integer, nullable=False),
    Column("landmarks", Text),
    Column("shared", Boolean, nullable=False),
    Column("has_preview", Boolean, nullable=False),
    Column("statement", Plain, nullable=False),
    Column("agreed", BigInteger, nullable=False),
    Column("created", BigInteger, nullable=False),
)

# The bytes of an avatar ("file") and its small picture ("preview"), beside the rows that lists read.
avatar_files = Table(
    "avatar_files",
    metadata,
    Column("avatar", ForeignKey("avatars.id", ondelete="CASCADE"), primary_key=True),
    Column("part", Text, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)

# `ended` is empty while it runs. The files are in the data folder, under the id.
recordings = Table(
    "recordings",
    metadata,
    Column("id", Text, primary_key=True),
    Column("user", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("title", Plain, nullable=False),
    Column("conversation", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("duration", BigInteger, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("frames", BigInteger, nullable=False),
    Column("ended", Text, nullable=False),
    Index("recordings_by_user", "user"),
)

users = Table(
    "users",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Plain, nullable=False, unique=True),
    Column("role", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("disabled", BigInteger, nullable=False),
)

keys = Table(
    "keys",
    metadata,
    Column("id", Text, primary_key=True),
    Column("user_id", ForeignKey("users.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("prefix", Text, nullable=False),
    Column("digest", LargeBinary, nullable=False, unique=True),
    Column("created", BigInteger, nullable=False),
    Column("last_used", BigInteger, nullable=False),
    Column("revoked", BigInteger, nullable=False),
    Column("label", Plain, nullable=False, server_default=""),
    Column("expires", BigInteger, nullable=False, server_default="0"),
    Column("limits", Text, nullable=True),
)

# The key of the settings logs in as `local`, who is no row of `users`: no foreign key.
logins = Table(
    "logins",
    metadata,
    Column("digest", LargeBinary, primary_key=True),
    Column("user_id", Text, nullable=False, index=True),
    Column("created", BigInteger, nullable=False),
    Column("expires", BigInteger, nullable=False, index=True),
    Column("last_seen", BigInteger, nullable=False, server_default="0"),
    Column("address", Text, nullable=False, server_default=""),
    Column("agent", Text, nullable=False, server_default=""),
    Column("key_id", Text, nullable=True),
)

# What admins did. Rows are added and, when they are old, deleted; none is changed.
audit = Table(
    "audit",
    metadata,
    Column("number", Number, primary_key=True, autoincrement=True),
    Column("at", BigInteger, nullable=False),
    Column("user", Text, nullable=False),
    Column("name", Plain, nullable=False),
    Column("key_id", Text, nullable=False),
    Column("act", Text, nullable=False),
    Column("target", Plain, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("details", Plain, nullable=False),
    Index("audit_by_at", "at"),
    sqlite_autoincrement=True,
)


class Vector(UserDefinedType[str]):
    """PostgreSQL's `tsvector`: words with their positions, built by `search/index.py` instead of PostgreSQL's parser."""

    cache_ok = True

    def get_col_spec(self, **_: object) -> str:
        return "tsvector"


# What is searched, one row a message, in folded words. SQLite keeps it in a table of FTS5, PostgreSQL in this one.
postgresql_metadata = MetaData()
message_words = Table(
    "message_words",
    postgresql_metadata,
    Column("message", BigInteger, ForeignKey(messages.c.sequence, ondelete="CASCADE"), primary_key=True),
    Column("words", Text, nullable=False),
    Column("vector", Vector, nullable=False),
    Index("message_words_by_vector", "vector", postgresql_using="gin"),
)

SQLITE_SEARCH = (
    # The owner's token is in the index, so that one user's search reads no other user's hits.
    """CREATE VIRTUAL TABLE message_words USING fts5(owner, words, tokenize = 'ascii', prefix = '1 2 3 4 5')""",
    """CREATE TRIGGER messages_leave_search AFTER DELETE ON messages BEGIN
        DELETE FROM message_words WHERE rowid = old.sequence; END""",
)
