"""The Annotated Transformer's copy task: learn to repeat ten symbols.

    python copy_task.py [STEPS]
"""
import sys

import dragoman

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 400
TEXT = "1 7 3 9 9 2 5 8 4 6"
recipe = {
    "data": {"synthetic": "copy", "symbols": 11, "length": 10, "sentences": 30, "batches": 20, "valid_batches": 5},
    "model": {
        "encoder_layers": 2, "decoder_layers": 2, "d_model": 128, "d_ff": 512, "heads": 8,
        "norm": "pre", "tied": "none", "initialiser": "xavier", "embedding_initialiser": "xavier",
    },
    "training": {
        "schedule": "cosine", "learning_rate": 1e-3, "warmup": 40, "max_steps": STEPS, "label_smoothing": 0.0,
    },
}


def draw(result: dragoman.Validation) -> None:
    """A line of the curve, and what the model makes of a sequence by now."""
    bar = "#" * round(20 * result.loss)
    print(f"epoch {result.epoch:2}  loss {result.loss:.3f}  {bar}")


done = dragoman.train(recipe, out="models/copy-task", on_validation=draw, resume="never", progress=False)
model = dragoman.Translator(done.folder)
copied = model.translate(TEXT, beam=1, alignment=True)
print(f"given   {TEXT}\ncopied  1 {copied.text}")

# Each row is a symbol that was written, each column one that was read.
for row in copied.hypotheses[0].attention:
    print("".join(" .:-=+*#%@"[int(9.99 * weight)] for weight in row))
