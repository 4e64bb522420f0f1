"""Who may do what: API keys, logins, and the middleware that checks both."""
