"""What looks are made of: smooth outlines, how shapes move with the head, eyes and mouths."""
