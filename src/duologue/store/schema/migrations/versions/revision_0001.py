"""The first tables: users, conversations with their rows and files, runs, questions, servers of tools, and search."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    _users()
    _conversations()
    _messages()
    _runs()
    _servers()
    _search()


def downgrade() -> None:
    raise NotImplementedError("Put a copy back: duologue backup --restore FILE")


def _users() -> None:
    op.create_table(
        "users",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("disabled", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="users_pkey"),
        sa.UniqueConstraint("name", name="users_name_key"),
    )
    op.create_table(
        "keys",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("prefix", sa.Text(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("last_used", sa.BigInteger(), nullable=False),
        sa.Column("revoked", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="keys_pkey"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="keys_user_id_fkey", ondelete="CASCADE"),
        sa.UniqueConstraint("digest", name="keys_digest_key"),
    )
    op.create_index("keys_by_user_id", "keys", ["user_id"])
    op.create_table(
        "logins",
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("expires", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="logins_pkey"),
    )
    op.create_index("logins_by_expires", "logins", ["expires"])
    op.create_index("logins_by_user_id", "logins", ["user_id"])
    op.create_table(
        "user_settings",
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("updated", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("user", name="user_settings_pkey"),
    )
    op.create_table(
        "drafts",
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("conversation", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("updated", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("user", "conversation", name="drafts_pkey"),
    )
    op.create_table(
        "permissions",
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("server", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("user", "server", "tool", name="permissions_pkey"),
    )


def _conversations() -> None:
    op.create_table(
        "folders",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("parent", sa.Text(), nullable=True),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="folders_pkey"),
        sa.ForeignKeyConstraint(["parent"], ["folders.id"], name="folders_parent_fkey", ondelete="SET NULL"),
    )
    op.create_index("folders_by_parent", "folders", ["parent"])
    op.create_index("folders_by_user", "folders", ["user"])
    op.create_table(
        "conversations",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("title_words", sa.Text(), nullable=False),
        sa.Column("title_source", sa.Text(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("updated", sa.BigInteger(), nullable=False),
        sa.Column("leaf", sa.Text(), nullable=True),
        sa.Column("folder", sa.Text(), nullable=True),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        sa.Column("archived", sa.Boolean(), nullable=False),
        sa.Column("temporary", sa.Boolean(), nullable=False),
        sa.Column("deleted", sa.BigInteger(), nullable=False),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("forked_from", sa.Text(), nullable=True),
        sa.Column("options", sa.Text(), nullable=False),
        sa.Column("running", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="conversations_pkey"),
        sa.ForeignKeyConstraint(
            ["folder"], ["folders.id"], name="conversations_folder_fkey", ondelete="SET NULL"
        ),
    )
    op.create_index(
        "conversations_as_listed", "conversations", ["user", "archived", "pinned", "updated", "id"]
    )
    op.create_index("conversations_by_folder", "conversations", ["folder"])
    op.create_index(
        "conversations_to_purge",
        "conversations",
        ["deleted"],
        sqlite_where=sa.text("deleted > 0"),
        postgresql_where=sa.text("deleted > 0"),
    )
    op.create_table(
        "pending",
        sa.Column("position", NUMBER, nullable=False, autoincrement=True),
        sa.Column("conversation", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("how", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("options", sa.Text(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("position", name="pending_pkey"),
        sa.ForeignKeyConstraint(
            ["conversation"], ["conversations.id"], name="pending_conversation_fkey", ondelete="CASCADE"
        ),
        sa.UniqueConstraint("conversation", "id", name="pending_conversation_id_key"),
        sqlite_autoincrement=True,
    )


def _messages() -> None:
    op.create_table(
        "messages",
        sa.Column("sequence", NUMBER, nullable=False, autoincrement=True),
        sa.Column("conversation", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("parent", sa.Text(), nullable=True),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("edited", sa.BigInteger(), nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("finish", sa.Text(), nullable=True),
        sa.Column("tool_call_id", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("reasoning", sa.Text(), nullable=False),
        sa.Column("tool_calls", sa.Text(), nullable=False),
        sa.Column("call", sa.Text(), nullable=True),
        sa.Column("usage", sa.Text(), nullable=True),
        sa.Column("timings", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("sequence", name="messages_pkey"),
        sa.ForeignKeyConstraint(
            ["conversation"], ["conversations.id"], name="messages_conversation_fkey", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["conversation", "parent"],
            ["messages.conversation", "messages.id"],
            name="messages_conversation_parent_fkey",
            deferrable=True,
            initially="DEFERRED",
        ),
        sa.UniqueConstraint("conversation", "id", name="messages_conversation_id_key"),
        sqlite_autoincrement=True,
    )
    op.create_index("messages_by_conversation_parent", "messages", ["conversation", "parent"])
    op.create_index(
        "messages_unfinished",
        "messages",
        ["conversation"],
        sqlite_where=sa.text("status = 'running'"),
        postgresql_where=sa.text("status = 'running'"),
    )
    op.create_table(
        "blobs",
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("mime", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.Column("duration", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("hash", name="blobs_pkey"),
    )
    op.create_table(
        "blob_owners",
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("hash", "user", name="blob_owners_pkey"),
        sa.ForeignKeyConstraint(["hash"], ["blobs.hash"], name="blob_owners_hash_fkey", ondelete="CASCADE"),
    )
    op.create_table(
        "message_blobs",
        sa.Column("message", NUMBER, nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("message", "hash", name="message_blobs_pkey"),
        sa.ForeignKeyConstraint(
            ["message"], ["messages.sequence"], name="message_blobs_message_fkey", ondelete="CASCADE"
        ),
    )
    op.create_index("message_blobs_by_hash", "message_blobs", ["hash"])


def _runs() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("conversation", sa.Text(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("request", sa.LargeBinary(), nullable=False),
        sa.Column("started", sa.BigInteger(), nullable=False),
        sa.Column("ended", sa.BigInteger(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("waiting", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("turns", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="runs_pkey"),
        sa.ForeignKeyConstraint(
            ["conversation"], ["conversations.id"], name="runs_conversation_fkey", ondelete="CASCADE"
        ),
    )
    op.create_index("runs_by_conversation", "runs", ["conversation"])
    op.create_index("runs_by_ended", "runs", ["ended"])
    op.create_table(
        "run_log",
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("first", sa.Integer(), nullable=False),
        sa.Column("last", sa.Integer(), nullable=False),
        sa.Column("lengths", sa.Text(), nullable=False),
        sa.Column("event", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("run", "first", name="run_log_pkey"),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name="run_log_run_fkey", ondelete="CASCADE"),
    )
    op.create_table(
        "approvals",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("conversation", sa.Text(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("server", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("arguments", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("schema", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("expires", sa.BigInteger(), nullable=False),
        sa.Column("answered", sa.BigInteger(), nullable=False),
        sa.Column("decision", sa.Text(), nullable=True),
        sa.Column("values", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="approvals_pkey"),
        sa.ForeignKeyConstraint(
            ["conversation"], ["conversations.id"], name="approvals_conversation_fkey", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name="approvals_run_fkey", ondelete="CASCADE"),
    )
    op.create_index("approvals_by_conversation", "approvals", ["conversation"])
    op.create_index("approvals_by_run", "approvals", ["run"])
    op.create_index("approvals_by_user_answered", "approvals", ["user", "answered"])


def _servers() -> None:
    op.create_table(
        "mcp_servers",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("config", sa.Text(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="mcp_servers_pkey"),
    )
    op.create_table(
        "mcp_tokens",
        sa.Column("server", sa.Text(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("updated", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("server", "user", name="mcp_tokens_pkey"),
    )


def _search() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "CREATE TABLE message_words (message BIGINT PRIMARY KEY REFERENCES messages (sequence) ON DELETE CASCADE, "
            "words TEXT NOT NULL, vector tsvector NOT NULL)"
        )
        op.execute("CREATE INDEX message_words_by_vector ON message_words USING gin (vector)")
        return
    op.execute(
        "CREATE VIRTUAL TABLE message_words USING fts5(owner, words, tokenize = 'ascii', prefix = '1 2 3 4 5')"
    )
    op.execute(
        "CREATE TRIGGER messages_leave_search AFTER DELETE ON messages BEGIN "
        "DELETE FROM message_words WHERE rowid = old.sequence; END"
    )
