"""A campaign: one search on one task, its log and the fold over it."""

from evolve.campaign.calls import ModelFailures
from evolve.campaign.campaign import Campaign, stream
from evolve.campaign.history import Past
from evolve.campaign.state import Difference, State, Step
from evolve.campaign.workspace import campaigns, existing_path, logs, secret_for, workspace

__all__ = [
    "Campaign",
    "Difference",
    "ModelFailures",
    "Past",
    "State",
    "Step",
    "campaigns",
    "existing_path",
    "logs",
    "secret_for",
    "stream",
    "workspace",
]
