def a(x):
    total = 0
    for i in x:
        total += i
    return total


def b(x):
    total = 0
    for i in x:
        total += i * i
    return total
