"""`evolve view`: campaigns as pages of a local web server.

Each module of `evolve.web.pages` is one group of pages: functions from a request to a response, and `ROUTES`. A page takes its campaign
from the `Shelf`, asks `evolve.report` for values, and renders a template of the same name; everything in a template is escaped.

Invariant: pages read. What a person adds, where that was allowed, lies beside the log."""
