"""Speech in a worker: synthesis, transcription and the engines behind them."""
