"""The parent of the gateway: starts it, starts it again when it falls, and says why. Imports next to nothing, so that it stays small."""
