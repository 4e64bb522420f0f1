"""The messages of calls: the voice socket and the duplex socket, in both directions."""
