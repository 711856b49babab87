"""Choice among several models: by fixed weights, or by the bandit whose arms are the models.

The state is a fold over events, so that a replay rebuilds it; a proposal that came to nothing counts."""

from collections.abc import Sequence

from numpy.random import Generator

from evolve.campaign.state import REFLECTION
from evolve.config import ModelsSection
from evolve.strategies.bandit import Bandit, draw
from evolve.types import Event


class Ensemble:
    """The models of a campaign that propose. Main thread; only `tell` changes its state."""

    def __init__(self, settings: ModelsSection) -> None:
        names = settings.proposing
        self._weights = {member.name: member.weight for member in settings.members if member.name in names}
        learns = settings.choice == "bandit" and len(names) > 1
        self._bandit = (
            Bandit(names, settings.resource, settings.floor, arm_of="model", besides=(REFLECTION,)) if learns else None
        )

    def choose(self, rng: Generator, free: Sequence[str], answering: Sequence[str] = ()) -> str | None:
        """Draws one of the models that are free, of which there is at least one. It is drawn among all that are `answering`; in the place of one that is
        busy comes another, but none with less than half of an even share: a model that is always free because its answers are short and useless must not
        get all that the others have no time for. None where it is better to wait."""
        shares = self.shares(answering or free)
        found = draw(rng, shares)
        if found in free:
            return found
        # A model that is always free because its answers are short and useless must not get all that the others have no time for.
        good = [name for name in free if shares[name] >= 0.5 / len(shares)]
        return draw(rng, self.shares(good)) if good else None

    def shares(self, among: Sequence[str] | None = None) -> dict[str, float]:
        """Returns the probability of each model, of these or of all; they sum to 1."""
        if self._bandit is not None:
            return self._bandit.shares(among)
        weights = {name: weight for name, weight in self._weights.items() if among is None or name in among}
        total = sum(weights.values())
        return {name: weight / total for name, weight in weights.items()}

    def tell(self, event: Event) -> None:
        """Folds one event."""
        if self._bandit is not None:
            self._bandit.tell(event)
