"""Help: a search over Duologue's own documentation, which comes with the package."""
