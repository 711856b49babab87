"""Documents that are files of their own: the report of a campaign, in HTML and in Markdown.

Invariant: a document is a value, and only its renderers make markup; whatever a program or an evaluator wrote is escaped by them."""

from evolve.pages.document import Document
from evolve.pages.findings import Findings, Moment, Picture, findings
from evolve.pages.html import html
from evolve.pages.markdown import markdown
from evolve.pages.report import report_of

__all__ = ["Document", "Findings", "Moment", "Picture", "findings", "html", "markdown", "report_of"]
