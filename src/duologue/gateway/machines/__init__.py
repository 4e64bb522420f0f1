"""Workers on other machines: they join or are placed by Ray, are kept, and are shown by machine."""
