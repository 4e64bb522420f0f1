"""`duologue worker`: joins a server on another machine with the models of this one."""
