"""What every request passes before authentication: proxy headers, base path, Host and Origin."""
