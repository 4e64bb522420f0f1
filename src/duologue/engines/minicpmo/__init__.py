"""MiniCPM-o 4.5 through the methods that its own code publishes: it sees, hears, writes and speaks."""
