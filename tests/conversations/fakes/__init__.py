"""Stand-ins for what runs are given: a model that plays a script, a toolbox of functions, attachments of text."""
