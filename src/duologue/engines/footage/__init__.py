"""The base clips of avatars: frames rendered ahead, in which an avatar breathes and looks about. `wan` renders them, `musetalk` moves their
lips."""
