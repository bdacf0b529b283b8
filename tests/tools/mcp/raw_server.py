"""A server without the SDK, for what the SDK would not do. Starts in a few milliseconds: the standard library only.

raw_server.py FOLDER [START]: FOLDER/tools.json is its list, read anew each time; FOLDER takes files that say what happened.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

folder = Path(sys.argv[1])
start = sys.argv[2] if len(sys.argv) > 2 else ""
called = 0


def note(name, text=""):
    with (folder / name).open("a") as file:
        file.write(f"{text}\n")


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def said(text):
    return {"content": [{"type": "text", "text": text}]}


def call(number, name, arguments):
    note("calls", f"{name} {json.dumps(arguments)}")
    if name == "die":
        print("bearing overheated\x1b[31m", file=sys.stderr, flush=True)
        os._exit(3)
    if name == "hang":
        note("hanging", number)
        return
    if name == "endless":
        while True:
            os.write(1, b"x" * 65536)
    if name == "loud":
        while True:
            os.write(2, b"x" * 65536)
    if name == "flood":
        while True:
            send({"method": "notifications/message", "params": {"level": "info", "data": "drip"}})
    if name == "noise":
        os.write(1, b'\x1b[31mstarting up\n\xff\xfe\n{}\n[1]\n{"jsonrpc":"2.0","id":99,"result":{}}\n')
    if name == "ask":
        for request in ("sampling/createMessage", "roots/list", "elicitation/create"):
            send({"id": f"mine-{request}", "method": request, "params": {}})
    if name == "swap":
        (folder / "tools.json").write_text((folder / "next.json").read_text())
        send({"method": "notifications/tools/list_changed"})
    other = {
        "wrong": {"result": {"content": "no list"}},
        "refuse": {"error": {"code": -32602, "message": "no\x1b[2J such\nargument"}},
        "env": {"result": said(json.dumps(dict(os.environ)))},
    }
    send({"id": number, **other.get(name, {"result": said(f"{name}: {arguments.get('text', 'done')}")})})


def answer(message):
    method, number, params = message.get("method"), message.get("id"), message.get("params") or {}
    if method == "initialize":
        about = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {"listChanged": True}}}
        send({"id": number, "result": {**about, "serverInfo": {"name": "raw", "version": "1"}}})
    elif method == "tools/list":
        send({"id": number, "result": {"tools": json.loads((folder / "tools.json").read_text())}})
        note("listed")
    elif method == "tools/call":
        call(number, params["name"], params.get("arguments") or {})
    elif method == "notifications/cancelled":
        note("cancelled", params["requestId"])
    elif method is None:
        note("answers", json.dumps(message))


note("starts", os.getpid())
if start == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if start == "daemon":
    note("daemons", subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True).pid)
if start == "exit":
    sys.exit("no licence\x1b[31m found")
if start == "hang":
    time.sleep(3600)
if start == "endless":
    while True:
        os.write(1, b"x" * 65536)
if start == "once" and (folder / "starts").read_text().count("\n") > 1:
    sys.exit("only once")
for line in sys.stdin:
    answer(json.loads(line))
if start == "stubborn":
    note("asked")
    time.sleep(3600)
