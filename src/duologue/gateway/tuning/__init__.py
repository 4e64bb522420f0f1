"""What admins choose for models while the server runs: chat templates, LoRA adapters, sampling presets."""
