"""The commands about users and the audit log, and the database that they and other commands work on."""
