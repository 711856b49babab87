"""A network with one hidden layer, trained by gradient descent with momentum."""

import torch
from torch import nn

HIDDEN = 24
BATCH = 32
ROUNDS = 6
RATE = 0.05
MOMENTUM = 0.8
DECAY = 0.0001


def network(pixels, classes):
    return nn.Sequential(nn.Linear(pixels, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, classes))


def train(inputs, targets, told):
    torch.manual_seed(told["seed"])
    device = "cuda" if torch.cuda.is_available() else "cpu"
    images, labels = scaled(inputs).to(device), torch.from_numpy(targets).to(device)
    net = network(inputs.shape[1], told["classes"]).to(device)
    optimiser = torch.optim.SGD(net.parameters(), lr=RATE, momentum=MOMENTUM, weight_decay=DECAY)
    for _ in range(ROUNDS):
        for rows in torch.randperm(len(images), device=device).split(BATCH):
            optimiser.zero_grad()
            nn.functional.cross_entropy(net(images[rows]), labels[rows]).backward()
            optimiser.step()
    return {name: value.cpu().numpy() for name, value in net.state_dict().items()}


def predict(model, inputs):
    net = network(inputs.shape[1], len(model["2.bias"]))
    net.load_state_dict({name: torch.from_numpy(value) for name, value in model.items()})
    with torch.no_grad():
        return net(scaled(inputs)).argmax(dim=1).numpy()


def scaled(inputs):
    return torch.from_numpy(inputs) / 16.0
