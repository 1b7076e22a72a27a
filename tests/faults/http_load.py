"""HTTP clients for tests/faults/serving: they note for each request when it was sent, and how it was answered."""
import asyncio
import dataclasses
import json
import time


class NoAnswer(Exception):
    """The connection ended before the first byte of an answer."""


class FailedStream(Exception):
    """A stream that began, and did not end with a result."""


class TornAnswer(Exception):
    """The connection ended within an answer."""


@dataclasses.dataclass
class Outcome:
    sent: float  # when all of it was written; 0: it was not
    done: float
    result: object  # a status, or "refused", "unanswered", "torn", "late", "failed"
    body: bytes = b""
    due: float = 0  # when it was to be sent, if it had a time

    @property
    def seconds(self):
        return self.done - (self.due or self.sent)


def request_bytes(text, path="/v1/translate", **more):
    body = json.dumps({"text": text, "from": "en", "to": "fr", **more}).encode()
    return posted(path, "application/json", body)


def posted(path, kind, body):
    return (f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n").encode() + body


def score_request(text):
    body = {"from": "en", "to": "fr", "pairs": [{"source": line, "target": line} for line in text.split("\n")]}
    return posted("/v1/score", "application/json", json.dumps(body).encode())


def list_request(text):
    return request_bytes([f"<p>{line} <b>{line}</b></p>" for line in text.split("\n")], format="html")


def stream_request(text):
    return request_bytes(text, stream=True)


def document_request(text):
    parts = [f'; name="{name}"\r\n\r\n{value}' for name, value in
             [("source", "en"), ("target", "fr")]] + [f'; name="file"; filename="a.txt"\r\n\r\n{text}']
    body = "".join(f"--part\r\nContent-Disposition: form-data{part}\r\n" for part in parts) + "--part--\r\n"
    return posted("/translate_file", "multipart/form-data; boundary=part", body.encode())


def page_request(path):
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


async def read_chunks(reader):
    body = b""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readexactly(2)
    return body


async def read_body(reader, headers):
    """Of a stream of events the last, which says how the translation went."""
    if headers.get("transfer-encoding") != "chunked":
        return await reader.readexactly(int(headers.get("content-length", 0)))
    last = (await read_chunks(reader)).rstrip().rpartition(b"\n\n")[2]
    if not last.startswith(b"event: result\n"):
        raise FailedStream(last[:200])
    return last


async def read_answer(reader):
    """Whether the connection ends, status and body of an answer."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        raise (TornAnswer if error.partial else NoAnswer)() from None
    except ConnectionError:
        raise NoAnswer() from None
    lines = head.decode("latin-1").split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
    try:
        body = await read_body(reader, headers)
    except (asyncio.IncompleteReadError, ConnectionError):
        raise TornAnswer() from None
    return int(lines[0].split()[1]), headers.get("connection") == "close", body


class Client:
    """One connection, opened when it is needed and kept. What it posts is a text, or the bytes of a whole request."""

    def __init__(self, port, address="127.0.0.1", patience=60):
        self.port, self.address, self.patience = port, address, patience
        self.reader = self.writer = None

    async def send(self, text):
        if self.writer is not None and self.reader.at_eof():  # idle for longer than the server waits
            self.drop()
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port,
                                                                     local_addr=(self.address, 0))
        self.writer.write(text if isinstance(text, bytes) else request_bytes(text))
        await self.writer.drain()

    async def post(self, text):
        sent, body = 0, b""
        try:
            await asyncio.wait_for(self.send(text), self.patience)
            sent = time.monotonic()
            status, close, body = await asyncio.wait_for(read_answer(self.reader), self.patience)
            if close:
                self.drop()
            return Outcome(sent, time.monotonic(), status, body)
        except asyncio.TimeoutError:
            result = "late"
        except (NoAnswer, ConnectionError, OSError):
            result = "unanswered" if sent else "refused"
        except TornAnswer:
            result = "torn"
        except FailedStream as failure:
            result, body = "failed", failure.args[0]
        self.drop()
        return Outcome(sent, time.monotonic(), result, body)

    def drop(self):
        if self.writer is not None:
            self.writer.transport.abort()
        self.reader = self.writer = None


async def closed_loop(port, clients, texts, until, address="127.0.0.1"):
    """Clients that each wait for their answer, until a time or an event; all outcomes."""
    outcomes = []

    async def one():
        client = Client(port, address)
        while not (until.is_set() if isinstance(until, asyncio.Event) else time.monotonic() >= until):
            outcomes.append(await client.post(next(texts)))
            if not isinstance(outcomes[-1].result, int):
                await asyncio.sleep(0.02)
        client.drop()

    await asyncio.gather(*(one() for _ in range(clients)))
    return outcomes


async def open_loop(port, rate, seconds, texts, random_, connections=800):
    """Requests that arrive at random, whatever becomes of those before; outcomes say when they were due."""
    outcomes, idle, tasks, opened = [], [], set(), 0

    async def one(client, due):
        outcome = await client.post(next(texts))
        outcomes.append(dataclasses.replace(outcome, due=due))
        idle.append(client)

    due, end = time.monotonic(), time.monotonic() + seconds
    while due < end:
        due += random_.expovariate(rate)
        await asyncio.sleep(max(0, due - time.monotonic()))
        while not idle and opened >= connections:
            await asyncio.sleep(0.002)
        if not idle:
            idle.append(Client(port, f"127.0.0.{2 + opened % 8}"))
            opened += 1
        task = asyncio.create_task(one(idle.pop(), due))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    await asyncio.gather(*tasks)
    for client in idle:
        client.drop()
    return outcomes


def quantile(values, q):
    values = sorted(values)
    return values[min(len(values) - 1, int(q * len(values)))] if values else float("nan")
