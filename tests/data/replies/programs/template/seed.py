"""
Usage:

```
python seed.py
```
"""
RATE = 3


def use():
    return RATE
