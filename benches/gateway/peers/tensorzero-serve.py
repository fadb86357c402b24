"""The HTTP gateway that is inside TensorZero's Python package, without a database."""
import signal
import sys

import tensorzero

gateway = tensorzero._start_http_gateway(
    config_file=sys.argv[1], clickhouse_url=None, postgres_url=None, valkey_url=None, async_setup=False
)
print(gateway.base_url, flush=True)
signal.pause()
