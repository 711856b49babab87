"""The program that the search begins with: every number in it may change."""


def throw(distance):
    """The angle in degrees and the speed in metres per second for a target at this distance in metres."""
    angle = 45.0 + 0.02 * distance
    speed = 2.5 * distance**0.5 + 0.05 * distance
    return [angle, speed]
