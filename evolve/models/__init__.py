"""The kinds of models that come with the engine, registered as a third party would register its own.

Invariant: the engine knows them by the names given here and by nothing else; keys are read when a model is made, and live in it alone."""
