"""The ways of talking to this server, which admins switch on and off while it runs."""
