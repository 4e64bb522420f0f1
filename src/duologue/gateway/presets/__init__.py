"""What to begin with: presets, a sample of the server's voice, and defaults, as the front end of the MiniCPM-o demo reads them."""
