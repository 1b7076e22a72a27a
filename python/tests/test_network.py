"""The pieces of a network beside the paper's formulas in NumPy."""
import concurrent.futures
import copy
import pathlib
import subprocess
import sys

import dragoman
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE, TARGET = [1, 7, 3, 9, 2], [1, 4, 12, 5, 2]
SIZES = {"encoder_layers": 1, "decoder_layers": 2, "d_model": 16, "heads": 2, "d_ff": 24, "dropout": 0.3}


def small_network(**model):
    """Biases and gains that are not 0 and 1."""
    network = dragoman.Network.new(source_vocabulary=11, target_vocabulary=13, device="cpu", threads=1, **SIZES, **model)
    noise = np.random.default_rng(1)
    network.set_parameters({
        name: value + noise.normal(0, 0.1, value.shape) for name, value in network.parameters().items()
    })
    return network


@pytest.fixture
def network():
    return small_network()


def softmax(x):
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


class Formulas:
    """Sections 3.1 to 3.5 with pre-norm, for one sentence."""

    def __init__(self, network):
        self.heads = network.config["heads"]
        self.weights = {name: value.astype(np.float64) for name, value in network.parameters().items()}

    def linear(self, name, x):
        return x @ self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def norm(self, name, x):
        normed = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-6)
        return normed * self.weights[f"{name}.gain"] + self.weights[f"{name}.bias"]

    def attention(self, q, k, v, mask=0.0):
        outputs = []
        for one, keys, values in zip(*(np.split(x, self.heads, axis=1) for x in (q, k, v))):
            outputs.append(softmax(one @ keys.T / np.sqrt(keys.shape[1]) + mask) @ values)
        return np.hstack(outputs)

    def self_attention(self, stack, layer, x):
        name = f"{stack}.layers.{layer}.self_attention"
        mask = np.triu(np.full((len(x), len(x)), -np.inf), 1) if stack == "decoder" else 0.0
        return self.linear(f"{name}.output", self.attention(*np.split(self.linear(f"{name}.qkv", x), 3, axis=1), mask))

    def cross_attention(self, layer, x, memory):
        name = f"decoder.layers.{layer}.cross_attention"
        keys, values = np.split(self.linear(f"{name}.key_value", memory), 2, axis=1)
        return self.linear(f"{name}.output", self.attention(self.linear(f"{name}.query", x), keys, values))

    def feed_forward(self, stack, layer, x):
        name = f"{stack}.layers.{layer}.feed_forward"
        return self.linear(f"{name}.outer", np.maximum(0, self.linear(f"{name}.inner", x)))

    def positions(self, count, width):
        angles = np.arange(count)[:, None] / 10000 ** (np.arange(0, width, 2) / width)
        return np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(count, width)

    def embed(self, stack, ids):
        table = self.weights["source_embedding.weight" if stack == "encoder" else "target_embedding.weight"]
        return table[ids] * np.sqrt(table.shape[1]) + self.positions(len(ids), table.shape[1])

    def stack(self, stack, ids, memory=None):
        x = self.embed(stack, ids)
        for layer in range(1 if stack == "encoder" else 2):
            name = f"{stack}.layers.{layer}"
            x = x + self.self_attention(stack, layer, self.norm(f"{name}.self_attention.norm", x))
            if memory is not None:
                x = x + self.cross_attention(layer, self.norm(f"{name}.cross_attention.norm", x), memory)
            x = x + self.feed_forward(stack, layer, self.norm(f"{name}.feed_forward.norm", x))
        return self.norm(f"{stack}.norm", x)

    def logits(self, states):
        return states @ self.weights["generator.weight"].T + self.weights["generator.bias"]


def close(found, expected):
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=2e-5)


def test_each_piece_is_its_formula(network):
    paper = Formulas(network)
    x, memory = np.random.default_rng(2).normal(size=(2, 6, 16)).astype(np.float32)
    for stack, layer in [("encoder", 0), ("decoder", 1)]:
        close(network.self_attention(stack, layer, x), paper.self_attention(stack, layer, x))
        close(network.feed_forward(stack, layer, x), paper.feed_forward(stack, layer, x))
        close(network.embed(stack, SOURCE), paper.embed(stack, SOURCE))
        close(network.positions(stack, 300), paper.positions(300, 16))
    close(network.cross_attention(1, x[:4], memory), paper.cross_attention(1, x[:4], memory))
    close(network.logits(x), paper.logits(x))


def test_the_stacks_are_those_of_the_paper(network):
    paper = Formulas(network)
    memory = network.encode(np.array(SOURCE))
    close(memory, paper.stack("encoder", SOURCE))
    states = network.decode(TARGET, memory)
    close(states, paper.stack("decoder", TARGET, paper.stack("encoder", SOURCE)))
    np.testing.assert_array_equal(network.decode(TARGET[:3], memory), states[:3])  # later tokens are not seen


def test_losses_are_means_over_tokens(network):
    def alone(target, smoothing=0.0):
        logits = network.logits(network.decode(target[:-1], network.encode(SOURCE)))
        smoothed = smoothing / 13 + (1 - smoothing) * np.eye(13)[target[1:]]
        return -(smoothed * np.log(softmax(logits.astype(np.float64)))).sum(axis=1).mean()

    assert network.loss(SOURCE, TARGET) == pytest.approx(alone(TARGET), abs=1e-5)
    assert network.loss(SOURCE, TARGET, label_smoothing=0.1) == pytest.approx(alone(TARGET, 0.1), abs=1e-5)
    both = network.loss([SOURCE, SOURCE], [TARGET, [1, 6, 2]])  # nothing is padded
    assert both == pytest.approx((4 * alone(TARGET) + 2 * alone([1, 6, 2])) / 6, abs=1e-5)
    assert network.loss(np.array([SOURCE] * 3), np.array([TARGET] * 3)) == pytest.approx(alone(TARGET), abs=1e-5)


def test_gradients_are_difference_quotients():
    network = small_network(activation="gelu")
    loss, gradients = network.loss_and_gradients(SOURCE, TARGET, label_smoothing=0.1)
    assert loss == pytest.approx(network.loss(SOURCE, TARGET, 0.1))
    parameters = network.parameters()
    assert {name: value.shape for name, value in gradients.items()} == {
        name: value.shape for name, value in parameters.items()
    }
    for name, gradient in gradients.items():
        at = np.unravel_index(np.abs(gradient).argmax(), gradient.shape)
        losses = []
        for step in (0.004, -0.004):
            moved = parameters[name].copy()
            moved[at] += step
            network.set_parameters({name: moved})
            losses.append(network.loss(SOURCE, TARGET, 0.1))
        network.set_parameters({name: parameters[name]})
        assert (losses[0] - losses[1]) / 0.008 == pytest.approx(gradient[at], rel=0.01, abs=2e-4), name


def test_a_folder_is_opened_and_saved_with_its_vocabularies(folder, translator, tmp_path):
    network = dragoman.Network(folder, device="cpu")
    assert network.config["d_model"] == translator.info.config["model"]["d_model"]
    network.save(tmp_path / "same")
    again = dragoman.Translator(tmp_path / "same", threads=1)
    assert again.score("A dog barks.", "un chien").total == translator.score("A dog barks.", "un chien").total
    name = "decoder.layers.0.feed_forward.outer.bias"
    network.set_parameters({name: network.parameters()[name] + 1})
    network.save(tmp_path / "changed")
    changed = dragoman.Translator(tmp_path / "changed", threads=1)
    assert changed.score("A dog barks.", "un chien").total != translator.score("A dog barks.", "un chien").total


def test_a_models_loss_is_its_score_and_its_choice_a_translation(folder, translator):
    network = dragoman.Network(folder, device="cpu")
    source, target = network.source_ids("The cat sleeps."), network.target_ids("la chatte dort")
    total = translator.score("The cat sleeps.", "la chatte dort").total
    assert -network.loss(source, target) * (len(target) - 1) == pytest.approx(total, abs=1e-3)

    best = translator.translate("The cat sleeps.", beam=1, tokens=True).hypotheses[0]
    start = network.target_ids("")[0]
    words, memory = [start], network.encode(source)
    for token in best.tokens[:5]:
        logits = network.logits(network.decode(words, memory))[-1].astype(np.float64)
        logits[start] = -np.inf  # which is never output
        words.append(int(logits.argmax()))
        assert np.log(softmax(logits)[words[-1]]) == pytest.approx(token.log_probability, abs=1e-3)
    assert best.text.startswith(network.target_text(words))


def test_language_models():
    network = small_network(kind="language_model")
    logits = network.logits(network.decode(TARGET[:-1])).astype(np.float64)
    expected = -np.log(softmax(logits))[range(4), TARGET[1:]].mean()
    assert network.loss(None, TARGET) == pytest.approx(expected, abs=1e-5)
    assert network.loss(None, [TARGET, TARGET]) == pytest.approx(expected, abs=1e-5)
    with pytest.raises(dragoman.UsageError, match="no encoder"):
        network.encode(SOURCE)


def test_what_is_saved_is_read_again(network, tmp_path):
    network.save(tmp_path / "new")
    back = dragoman.Network(tmp_path / "new", device="cpu")
    assert back.config == network.config and back.config["dropout"] == 0.3
    assert all((back.parameters()[name] == value).all() for name, value in network.parameters().items())
    with pytest.raises(dragoman.Error, match="vocabular|spm"):
        dragoman.Translator(tmp_path / "new")


def test_the_example_learns_to_reverse():
    example = ROOT / "python/examples/call_the_modules.py"
    done = subprocess.run([sys.executable, example], text=True, capture_output=True, check=True)
    given, decoded = (line.split()[1:] for line in done.stdout.splitlines()[-2:])
    assert decoded == given[::-1]


def test_threads_take_turns(network):
    expected = network.encode(SOURCE)
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        for found in threads.map(lambda _: network.encode(SOURCE), range(50)):
            np.testing.assert_array_equal(found, expected)


def test_a_forked_process_opens_its_own():
    program = """
import os, signal, sys, dragoman
new = lambda: dragoman.Network.new(source_vocabulary=5, target_vocabulary=5, d_model=16, heads=2, d_ff=16, threads=2)
network = new()
network.encode([1, 2])
child = os.fork()
if child == 0:
    signal.alarm(20)
    new().encode([1, 2])
    try: network.encode([1, 2])
    except dragoman.Error as error: print(error, flush=True)
    del network
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", program], text=True, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "") and "opened before fork()" in done.stdout


def test_mistakes_are_said(network):
    memory = network.encode(SOURCE)
    for call, sentence in [
        (lambda: network.encode([1, 11]), "ids from 0 to 10"),
        (lambda: network.encode([1.5]), "whole numbers.*float64"),
        (lambda: network.encode([[1, 2]]), "2 dimensions"),
        (lambda: network.encode([]), "is empty"),
        (lambda: network.decode(TARGET), "memory must have"),
        (lambda: network.logits(memory[0]), "two dimensions, not 1"),
        (lambda: network.logits(memory[:, :8]), "5 × 8"),
        (lambda: network.self_attention("coder", 0, memory), 'unknown stack "coder"'),
        (lambda: network.loss([SOURCE], [TARGET, TARGET]), "1 sources and 2 targets"),
        (lambda: network.set_parameters({"decoder.norm.bais": [0]}), "did you mean decoder.norm.bias"),
        (lambda: dragoman.Network.new(target_vocabulary=5, source_vocabulary=5, d_modell=8), "model.d_model"),
        (lambda: network.source_ids("The cat"), "new network has no vocabularies"),
        (lambda: copy.copy(network), "cannot be pickled"),
    ]:
        with pytest.raises((dragoman.UsageError, TypeError), match=sentence):
            call()
