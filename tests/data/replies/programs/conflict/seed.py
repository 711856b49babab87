TEXT = """
<<<<<<< HEAD
ours
=======
theirs
>>>>>>> branch
"""
RATE = 1


def use():
    return TEXT, RATE
