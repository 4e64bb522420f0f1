"""Traces: what happened to a request, from the gateway to the worker, as spans of OpenTelemetry.

`spans` is what the rest of the program calls; `trace_context` the header that carries a trace between processes; `attributes` what spans
say; `opentelemetry_export` the only file that imports the library, and only where tracing is switched on. No span has anything of what
users write or say, or what a model answers.
"""
