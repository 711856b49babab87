from helpers import distance


def tour(cities):
    rest = list(cities)
    route = [rest.pop()]
    while rest:
        near = min(rest, key=lambda city: distance(route[-1], city))
        rest.remove(near)
        route.append(near)
    return route
