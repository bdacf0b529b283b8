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
listening = []
NEW = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if start == "modern" else {}


def note(name, text=""):
    with (folder / name).open("a") as file:
        file.write(f"{text}\n")


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def said(text):
    return {"content": [{"type": "text", "text": text}], **NEW}


def call(number, name, arguments):
    note("calls", f"{name} {json.dumps(arguments)}")
    if name == "die":
        print("bearing overheated\x1b[31m", file=sys.stderr, flush=True)
        os._exit(3)
    if name == "hang":
        note("hanging", number)
        return
    if name == "deaf":
        time.sleep(3600)
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
        changed()
    other = {
        "wrong": {"result": {"content": "no list"}},
        "refuse": {"error": {"code": -32602, "message": "no\x1b[2J such\nargument"}},
        "half": {"result": said("half \ud83d, whole \U0001f600")},
        "env": {"result": said(json.dumps(dict(os.environ)))},
    }
    send({"id": number, **other.get(name, {"result": said(f"{name}: {arguments.get('text', 'done')}")})})


def changed():
    meta = {"_meta": {"io.modelcontextprotocol/subscriptionId": listening[-1]}} if listening else {}
    send({"method": "notifications/tools/list_changed", "params": meta})


def modern(message):
    """What a server of 2026-07-28 does that has no handshake; False for what every server does."""
    method, number = message.get("method"), message.get("id")
    if method == "initialize":
        data = {"supported": ["2026-07-28"], "requested": message["params"]["protocolVersion"]}
        send({"id": number, "error": {"code": -32022, "message": "no such version", "data": data}})
    elif method == "server/discover":
        about = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {"listChanged": True}}}
        send({"id": number, "result": {**about, **NEW}})
    elif method == "subscriptions/listen":
        listening.append(number)
        params = {
            "_meta": {"io.modelcontextprotocol/subscriptionId": number},
            "notifications": {"toolsListChanged": True},
        }
        send({"method": "notifications/subscriptions/acknowledged", "params": params})
        note("listening")
    else:
        return False
    return True


def answer(message):
    method, number, params = message.get("method"), message.get("id"), message.get("params") or {}
    if start == "modern" and modern(message):
        return
    if method == "initialize":
        about = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {"listChanged": True}}}
        send({"id": number, "result": {**about, "serverInfo": {"name": "raw", "version": "1"}}})
    elif method == "tools/list" and start == "bare":
        send({"id": number, "error": {"code": -32601, "message": "Method not found"}})
    elif method == "tools/list":
        send({"id": number, "result": {"tools": json.loads((folder / "tools.json").read_text()), **NEW}})
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
