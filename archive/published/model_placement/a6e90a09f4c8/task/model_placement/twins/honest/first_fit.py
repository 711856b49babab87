"""Every model, as given, goes to the first GPU with room."""


def place(gpus, models):
    free, answer = [80] * gpus, []
    for size, _, _ in models:
        chosen = next(gpu for gpu in range(gpus) if size < free[gpu])
        free[chosen] -= size
        answer.append(chosen)
    return answer
