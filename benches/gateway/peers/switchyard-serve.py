"""The server that is inside NeMo Switchyard's Python package."""
import signal
import sys

from switchyard_rust.server import Server

server = Server(sys.argv[1], int(sys.argv[2]))
print(server.base_url, flush=True)
signal.pause()
