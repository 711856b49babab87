"""The task's own picture of a result, drawn by a judge process from the artifacts in the log.

Invariant: no candidate code runs."""
