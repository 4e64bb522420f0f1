"""What the recogniser is measured with, and in `tuning` how its data are made."""
