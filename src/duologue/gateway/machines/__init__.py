"""Workers on other machines: they join, are kept, and are shown by machine."""
