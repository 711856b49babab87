"""Charts as SVG text.

Invariant: pure; no text reaches a chart unescaped."""
