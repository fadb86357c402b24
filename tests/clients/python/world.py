"""Where the clients of this run point, what stands behind, and what the stand-in upstream saw.

The same scripts run against the stand-in itself ("direct") and through Punk with each kind of upstream behind it; the
environment says which. A script that holds for some of them only says so with `behind(...)`.
"""

import asyncio
import base64
import importlib.util
import itertools
import json
import os
import time
import urllib.request

import anthropic
import openai
import pytest


def below():
    """What the HTTP libraries raise that the clients bring along, by whatever name."""
    found = [importlib.util.find_spec(name) and importlib.import_module(name) for name in ("httpx", "httpx2")]
    return tuple(library.HTTPError for library in found if library)


URL = os.environ["CLIENTS_URL"]
UPSTREAM = os.environ.get("CLIENTS_UPSTREAM", "")
#: "direct", or what Punk has behind it: "openai" (chat and responses), "compat" (chat alone), "anthropic", "mock".
BEHIND = os.environ["CLIENTS_BEHIND"]
OPENAI_KEY = os.environ["CLIENTS_OPENAI_KEY"]
ANTHROPIC_KEY = os.environ["CLIENTS_ANTHROPIC_KEY"]
OPENAI_MODEL = os.environ["CLIENTS_OPENAI_MODEL"]
ANTHROPIC_MODEL = os.environ["CLIENTS_ANTHROPIC_MODEL"]

HELLO = 'Hello from upstream: grüß dich, 你好 👋 "quoted" \\ done.'
THOUGHT = "First I weigh the question. Then I decide."
LONG = "This goes on and on and on and on until the limit"
PNG = base64.b64encode(
    base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
).decode()
PNG_BYTES = len(base64.b64decode(PNG))

#: What a client raises when a stream breaks: its own exception, or that of the library below it.
BROKEN = (openai.APIError, anthropic.APIError, *below())

PUNK = BEHIND != "direct"
#: A model that the upstream does not have.
NO_MODEL = os.environ.get("CLIENTS_NO_MODEL", "no-such-model")
#: A cancelled call must have reached the upstream within this many seconds.
PROMPT = 0.1


def behind(*kinds):
    """Runs the script only where one of `kinds` stands behind the address; "punk" is all of them but "direct"."""
    return pytest.mark.behind(*kinds)


_numbers = itertools.count()


def unique(prompt):
    """The prompt with a tail that no other script has, for scripts that look for their own traces."""
    return f"{prompt} (take {next(_numbers)} of {os.getpid()} at {time.time_ns()})"


def _ask(method, path):
    request = urllib.request.Request(UPSTREAM + path, method=method)
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.load(response)


def seen(text):
    """The requests with `text` in their body that reached the upstream, oldest first."""
    # In the body's own escapes, as some clients send letters beyond ASCII.
    return [one for one in _ask("GET", "/_seen") if text in one["body"]]


def cancelled(text):
    """When the upstream noticed that the call with `text` was given up, in seconds since the epoch. Waits for it."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        for one in _ask("GET", "/_cancelled"):
            if text in one["body"]:
                return one["at"] / 1000
        time.sleep(0.01)
    raise AssertionError(f"the upstream never noticed the end of {text!r}")


def promptly_cancelled(attempt):
    """Holds that the upstream learns at once of a call that was given up.

    `attempt(prompt)` starts a call, gives it up and returns the time at which it did. The best of three counts: a busy
    machine may be late once, and a gateway that waits for something is late every time.
    """
    delays = []
    for _ in range(3):
        prompt = unique("be slow")
        given_up = attempt(prompt)
        delays.append(cancelled(prompt) - given_up)
        if delays[-1] < PROMPT:
            return
    raise AssertionError(f"the upstream learned of it after {delays} s")


async def arrival(text):
    """Waits until a request with `text` has reached the upstream."""
    deadline = time.monotonic() + 10
    while not await asyncio.to_thread(seen, text):
        assert time.monotonic() < deadline, f"{text!r} never reached the upstream"
        await asyncio.sleep(0.01)


#: For scripts that make the upstream fail. Punk leaves an upstream alone that fails again and again, as it should; a few
#: good answers after each such script keep that from the scripts that follow.
trouble = pytest.mark.usefixtures("recovery")


def recover():
    """Some answers that are good."""
    body = {"model": OPENAI_MODEL, "messages": [{"role": "user", "content": "say hello"}]}
    headers = {"authorization": f"Bearer {OPENAI_KEY}", "content-type": "application/json"}
    for _ in range(6):
        request = urllib.request.Request(f"{URL}/v1/chat/completions", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=10) as response:
            assert response.status == 200
