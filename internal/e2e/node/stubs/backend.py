#!/usr/bin/env python3
"""A backend for the client tests. KIND picks what it writes."""
import json, os, sys

out = sys.stdout.buffer
MiB = 1 << 20


def put(kind, **kw):
    e = {"type": kind, "ts": "2026-01-02T03:04:05.000Z", **kw}
    line = (json.dumps(e, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
    out.write(line)
    return len(line)


def fill(total, message):
    n = i = 0
    while n < total:
        n += put("log", n=i, entry={"message": message})
        i += 1


kind = os.environ.get("KIND", "small")
if "--tail" in sys.argv:  # one server, several kinds: the tests pick one by the tail argument
    kind = {"1": "emoji", "2": "escapes", "3": "complete", "4": "small", "5": "text", "6": "html", "7": "failing"}[
        sys.argv[sys.argv.index("--tail") + 1]
    ]
try:
    put("start")
    if kind == "emoji":
        fill(9 * MiB, "\U0001f680" * 250)
    elif kind == "escapes":
        fill(9 * MiB, 'a"b\\c\u0001\t' * 120)
    elif kind == "complete":
        fill(7 * MiB, 'k="v\\w" ' * 115)
    elif kind == "text":
        fill(5 * MiB // 2, "\U0001f680" * 64)
    elif kind == "html":
        fill(4 * MiB, "<a href='x'>&amp;\u2028\u2029</a>" * 40)
    elif kind == "failing":
        fill(9 * MiB // 2, "f" * 800)
        put("error", message="no")
        put("end", reason="error")
        out.flush()
        os._exit(1)
    else:
        for i in range(3):
            put("log", n=i, entry={"message": "hi <b>&</b> \U0001f680"})
    put("end", reason="eof")
    out.flush()
except OSError:
    pass
