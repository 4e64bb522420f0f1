"""Several gateways over one database: who they are, and what they tell each other."""
