"""The training loop: data loader, optimisers, schedule. `python -m duologue_mini.training.train` runs it."""
