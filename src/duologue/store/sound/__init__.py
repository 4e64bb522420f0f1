"""Sound that is kept: recordings of voices, in the database; and recordings of calls, whose sound is in files."""
