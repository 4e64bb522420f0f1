"""Everything hostile against a real server on loopback: files, requests, frames, connections, guesses (`make attack`).

`run` is the program. It starts a server, attacks it kind by kind while a probe measures what others feel, and looks at what
is left behind. `before_after` measures the attacks that once succeeded, one at a time, each on a server of its own.
"""
