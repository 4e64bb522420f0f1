"""The sections of the settings, one file each; `settings` puts them together."""
