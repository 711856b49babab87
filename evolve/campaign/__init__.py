"""A campaign: one search on one task, its log and the fold over it."""

from evolve.campaign.calls import ModelFailures
from evolve.campaign.campaign import Campaign, confirmed_best, opened_of, stream
from evolve.campaign.history import Past
from evolve.campaign.refusals import NOTHING_NEW
from evolve.campaign.state import Difference, State, Step
from evolve.campaign.workspace import campaigns, existing_path, log_path, logs, secret_for, workspace

__all__ = [
    "confirmed_best",
    "opened_of",
    "NOTHING_NEW",
    "log_path",
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
