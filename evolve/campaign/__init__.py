"""A campaign: one search on one task, its log and the fold over it."""

from evolve.campaign.campaign import Campaign, best_confirmed, first_event, stream
from evolve.campaign.folds import NOTHING_NEW, ModelFailures
from evolve.campaign.history import Past
from evolve.campaign.workspace import campaigns, existing_path, log_path, logs, secret_for, workspace

__all__ = [
    "best_confirmed",
    "first_event",
    "NOTHING_NEW",
    "log_path",
    "Campaign",
    "ModelFailures",
    "Past",
    "campaigns",
    "existing_path",
    "logs",
    "secret_for",
    "stream",
    "workspace",
]
