"""Files of every kind: read, measured, and made into what can be kept, shown or given to a model."""
