"""Speech as a service of the gateway: synthesis, transcription, and replies with their sound."""
