"""Commands for the files of users: where they are, and how backups reach them."""
