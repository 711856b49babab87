"""`evolve view`: campaigns as pages of a local web server.

Invariant: pages read, and write nothing but a person's stars, tags and comments, which lie beside the log."""
