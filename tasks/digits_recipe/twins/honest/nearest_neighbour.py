"""Takes for each image the label of the training image that is most like it."""


def train(inputs, targets, told):
    return {"inputs": inputs, "targets": targets}


def predict(model, inputs):
    known = model["inputs"]
    far = (known**2).sum(axis=1)[None, :] - 2.0 * inputs @ known.T
    return model["targets"][far.argmin(axis=1)]
