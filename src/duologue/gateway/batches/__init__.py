"""Batches of requests: `/v1/batches`, carried out while nobody else wants the model."""
