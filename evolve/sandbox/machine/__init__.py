"""Means that this machine offers to confine candidates: looked at, tried, remembered, and chosen from.

A mean that was not tried is not had."""
