"""What machines say to each other: workers that join a gateway from elsewhere."""
