"""What is kept about accounts besides users and keys: where they are signed in, and what admins did."""
