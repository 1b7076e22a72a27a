"""A Transformer's modules called one by one, as articles build and call them: made-up ids, encoder, decoder, loss,
gradients, Adam, and greedy decoding.

    python call_the_modules.py [STEPS]
"""
import sys

import dragoman
import numpy as np

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 150
START, END, WORDS = 1, 2, 20
network = dragoman.Network.new(
    source_vocabulary=WORDS, target_vocabulary=WORDS, d_model=64, heads=4, d_ff=128, encoder_layers=2, decoder_layers=2
)
source = np.random.default_rng(1).integers(3, WORDS, size=(8, 6))
target = np.pad(source[:, ::-1], ((0, 0), (1, 1)), constant_values=(START, END))  # to reverse them

parameters = network.parameters()
means = {name: np.zeros_like(value) for name, value in parameters.items()}
squares = {name: np.zeros_like(value) for name, value in parameters.items()}
for step in range(1, STEPS + 1):
    loss, gradients = network.loss_and_gradients(source, target, label_smoothing=0.1)
    for name, gradient in gradients.items():  # Adam, as in the paper's section 5.3
        means[name] += (1 - 0.9) * (gradient - means[name])
        squares[name] += (1 - 0.98) * (gradient**2 - squares[name])
        mean, square = means[name] / (1 - 0.9**step), squares[name] / (1 - 0.98**step)
        parameters[name] -= 1e-3 * mean / (np.sqrt(square) + 1e-9)
    network.set_parameters(parameters)
    if step % 25 == 0:
        print(f"step {step:3}  loss {loss:.3f}")

memory = network.encode(source[0])
words = [START]
while words[-1] != END and len(words) < 50:
    states = network.decode(words, memory)
    words.append(int(network.logits(states)[-1].argmax()))
print("given   ", *source[0])
print("decoded ", *words[1:-1])
