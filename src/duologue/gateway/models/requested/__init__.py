"""The model that a request names: aliases with patterns, who may have a model loaded by its name, what makes room, and the loads."""
