"""Which request gets which slot: the queue, leases, estimates, and the pool of workers."""
