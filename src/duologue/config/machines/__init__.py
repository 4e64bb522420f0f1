"""The settings of everything beyond this machine: joined workers, Ray, other gateways, shared files, other servers."""
