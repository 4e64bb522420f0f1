"""Several gateways over one database: the list of them, and the notices between them."""
