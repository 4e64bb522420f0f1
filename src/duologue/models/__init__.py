"""Where models are, what a model file says of itself, and the bundled weights. No engine code."""
