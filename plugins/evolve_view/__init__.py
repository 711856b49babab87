"""`evolve view` and `evolve report`: campaigns as pages of a local web server, and as documents that are files of their own.

Other plugins draw with `evolve_view.charts` and write Markdown with `evolve_view.documents` and `evolve_view.markdown`. Importing this package imports
neither a web server nor a template engine."""
