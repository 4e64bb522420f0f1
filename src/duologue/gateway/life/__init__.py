"""How the server and its workers come and go: draining, rolling restarts, more and fewer workers, models that rest."""
