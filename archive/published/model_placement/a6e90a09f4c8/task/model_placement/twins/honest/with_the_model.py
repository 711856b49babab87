"""Looks at the pressure that a GPU would be under with the model; the answer is an array."""

import numpy as np


def place(gpus, models):
    demand, free = np.zeros(gpus), np.full(gpus, 80.0)
    answer = np.zeros(len(models), dtype=np.int64)
    for index in sorted(range(len(models)), key=lambda index: -models[index][1] / models[index][2]):
        size, rate, slo = models[index]
        pressure = np.where(size < free, (demand + rate / slo) / np.maximum(free - size, 1e-9), np.inf)
        answer[index] = pressure.argmin()
        demand[answer[index]] += rate / slo
        free[answer[index]] -= size
    return answer
