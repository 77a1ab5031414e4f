#!/usr/bin/env python3
"""A backend that has all commands. It notes its arguments in the file ARGV and answers as the reference does.
FAIL makes it fail. CANARIES are secrets that it writes where a careless backend might."""
import json, os, sys

args = sys.argv[1:]
with open(os.environ["ARGV"], "a") as f:
    f.write(json.dumps(args) + "\n")
canaries = json.loads(os.environ.get("CANARIES", "[]"))


def container(state):
    return {"id": "4f1c", "state": state, "status": state}


def runtime(name, state):
    return {"project": name, "working_dir": "/srv", "services": [{"service": "web", "containers": [container(state)]}]}


inventory = {
    "generated_at": "2026-03-01T10:00:00.000Z", "filter": None, "include_global": False, "include_unregistered": False, "runtime_ok": True,
    "projects": [{"name": "shop", "dev_host": "shop.test", "repo_root": "/srv", "kind": "registered", "status": "running",
                  "runtime": runtime("shop", "running"),
                  "branch_runtime": [{"branch": "fix-1", "runtime": runtime("shop--fix-1", "exited")}]}],
}
secret = {"value": canaries[0] if canaries else "v", "resolved": canaries[1:2], "storage": {"kind": "secret", "ciphertext": canaries[2:3]}}
answers = {
    "projects": inventory,
    "ps": {"project": "shop", "branch": None, "composeProject": "shop", "items": [{"Service": "web", "State": "running"}]},
    "open": {"url": "https://api.shop.test"},
    "doctor": {"ok": True, "data": {"checks": [], "counts": {"ok": 0, "warn": 0, "error": 0}, "summary": []}},
    "explain": {"key": "API_KEY", "available": True, "secret": True, "format": "v2", "environment": "base", "requested_scope": None,
                "effective_scope": "global", "target": "compose", "delivered_to": ["api"], "source": "a.json", "precedence": ["a.json"], **secret},
    "list": {"project": "shop", "env_selection": {"requested": None, "effective": "base"}, "format": "v2", "scopes": ["global"],
             "selected_scope": "global", "missing_required": ["B"],
             "vars": [{"key": "API_KEY", "required": True, "source": "a.json", "services": ["api"], "resolved_from": "global", **secret}]},
}
name = args[1] if args[0] == "env" else args[0]
if canaries and args[0] == "env":
    print(" ".join(canaries), file=sys.stderr)
if os.environ.get("FAIL"):
    print("failed", *canaries)
    sys.exit(3)
if name == "logs":
    print(json.dumps({"type": "start", "ts": "2026-03-01T10:00:00.000Z"}))
    for i in range(3):
        print(json.dumps({"type": "log", "n": i, "entry": {"message": "hi"}}))
    print(json.dumps({"type": "end", "ts": "2026-03-01T10:00:00.000Z", "reason": "eof"}))
elif name in answers:
    print(json.dumps(answers[name]))
else:
    print("done", name)
