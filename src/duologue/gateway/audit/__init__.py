"""The audit log: what admins did, when, and with which outcome."""
