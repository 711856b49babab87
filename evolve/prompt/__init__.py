"""What a model reads: from a selection and what the campaign knows to a prompt.

Invariant: a prompt is a function of the step's `Asked` and the log before it; what a program or a model wrote stands in it as a quotation."""
