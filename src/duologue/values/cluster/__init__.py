"""Several gateways over one database."""
