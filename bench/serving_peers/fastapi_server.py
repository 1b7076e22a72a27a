#!/usr/bin/env python3
"""A FastAPI server over CTranslate2 with dynamic batching, to compare `dragoman serve` with.

    pip install fastapi 'uvicorn[standard]' ctranslate2 sentencepiece
    dragoman export --model DIR --out FOLDER
    python3 fastapi_server.py FOLDER --port 5001

Sentences that arrive while all of CTranslate2's workers are busy wait together, and the next free worker takes up to
--batch of them at once: batches grow with the load, and a single client waits for nobody. Speaks LibreTranslate's
POST /translate, as far as bench_serving needs it.
"""
import argparse
import asyncio
import collections
import glob
import os

import ctranslate2
import fastapi
import pydantic
import sentencepiece
import uvicorn


class Request(pydantic.BaseModel):
    q: str | list[str]
    source: str = "en"
    target: str = "fr"


class Batcher:
    def __init__(self, o):
        self.translator = ctranslate2.Translator(o.folder, compute_type=o.precision, inter_threads=o.workers,
                                                 intra_threads=o.threads)
        self.free, self.batch, self.beam = o.workers, o.batch, o.beam
        self.waiting = collections.deque()
        source = glob.glob(os.path.join(o.folder, "s*.spm"))[0]  # source.spm or shared.spm
        target = source.replace("source.spm", "target.spm")
        self.source = sentencepiece.SentencePieceProcessor(model_file=source)
        self.target = sentencepiece.SentencePieceProcessor(model_file=target)

    async def translate(self, texts):
        loop = asyncio.get_running_loop()
        futures = []
        for pieces in self.source.encode(texts, out_type=str):
            futures.append(loop.create_future())
            self.waiting.append((pieces, futures[-1]))
        self.start(loop)
        return self.target.decode([await future for future in futures])

    def start(self, loop):
        while self.free and self.waiting:
            self.free -= 1
            batch = [self.waiting.popleft() for _ in range(min(self.batch, len(self.waiting)))]
            loop.create_task(self.run(loop, batch))

    async def run(self, loop, batch):
        results = self.translator.translate_batch([pieces for pieces, _ in batch], beam_size=self.beam,
                                                  asynchronous=True)
        done = await loop.run_in_executor(None, lambda: [result.result().hypotheses[0] for result in results])
        self.free += 1
        self.start(loop)  # before the answers are written
        for (_, future), pieces in zip(batch, done):
            if not future.done():
                future.set_result(pieces)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--port", type=int, default=5001)
    parser.add_argument("--precision", default="int8")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1, help="threads of each worker")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--beam", type=int, default=4)
    o = parser.parse_args()
    batcher = Batcher(o)
    app = fastapi.FastAPI()

    @app.post("/translate")
    async def translate(request: Request):
        several = isinstance(request.q, list)
        texts = await batcher.translate(request.q if several else [request.q])
        return {"translatedText": texts if several else texts[0]}

    @app.get("/health")
    async def health():
        return {"status": "ok"}

    uvicorn.run(app, host="127.0.0.1", port=o.port, log_level="warning", access_log=False, backlog=4096)


main()
