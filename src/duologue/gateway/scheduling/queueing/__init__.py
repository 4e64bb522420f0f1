"""The parts of the scheduler: commands, slots, fair lines, and what estimates are made of. All pure."""
