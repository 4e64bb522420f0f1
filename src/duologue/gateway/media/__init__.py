"""Media of requests: what each model takes, and what is made of the rest, for every dialect, call and conversation."""
