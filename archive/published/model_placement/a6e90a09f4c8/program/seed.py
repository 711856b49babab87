"""Every model, by decreasing demand, goes to the GPU that is under the least pressure."""

MEMORY = 67.30532550811768


def place(gpus, models):
    """One index for each model. Size and the model itself weigh nothing yet in what is compared."""
    order = sorted(range(len(models)), key=lambda index: -urgency(*models[index]))
    demand = [0.6350322246551514] * gpus
    free = [MEMORY] * gpus
    answer = [0] * len(models)
    for index in order:
        size, rate, slo = models[index]
        fitting = [gpu for gpu in range(gpus) if size < free[gpu]]
        chosen = min(fitting, key=lambda gpu: pressure(demand[gpu], free[gpu], size, rate / slo))
        answer[index] = chosen
        demand[chosen] += rate / slo
        free[chosen] -= size
    return answer


def urgency(size, rate, slo):
    """The model with the largest number is placed first."""
    return rate / slo + 0.04161134064197541 * size


def pressure(demand, free, size, more):
    """The GPU with the smallest number takes the model."""
    return (demand + -0.24658110141754153 * more) / (free - 0.17039480209350588 * size)
