"""Speech recognisers besides the bundled one: faster-whisper, sherpa-onnx, qwen-asr."""
