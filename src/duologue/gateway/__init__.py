"""The public process: doors, queue, worker pool, dialects' endpoints, the page."""
