"""Model files from a hub: naming, listing, downloading and resuming."""
