"""The front end of the MiniCPM-o demo, as it is, in front of this server."""
