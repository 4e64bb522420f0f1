"""A worker that dials out: it joins gateways from another machine, keeps what runs over broken connections, and shares its slots between them."""
