"""A memory in another process, with the standard library alone; see docs/remote-memory.md.

python examples/memory_service.py 8700
gym-memory compare -e "Fetch?level=hard" -m none -m "remote?url=http://127.0.0.1:8700" -p planner
"""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Latest:
    """A memory of seen lines that recalls the newest."""

    def begin(self, task, seed):
        self.lines = {}

    def observe(self, step):
        for line in filter(None, map(str.strip, step["text"].splitlines())):
            self.lines[line] = self.lines.pop(line, None)  # at the end: the newest

    def recall(self, cue, budget):
        shown, room = [], 4 * budget  # a token is four characters
        for line in reversed(self.lines):
            room -= len(line) + 1
            if room < 0:
                break
            shown.append(line)
        return {"text": "\n".join(shown), "episodes": shown}

    def end(self, outcome):
        pass


class Handler(BaseHTTPRequestHandler):
    protocol_version, wbufsize, disable_nagle_algorithm = "HTTP/1.1", -1, True
    token = os.environ.get("GYM_MEMORY_REMOTE_TOKEN", "")
    sessions = {}

    def do_POST(self):
        given = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        right = not self.token or self.headers.get("Authorization") == f"Bearer {self.token}"
        if self.headers.get("Content-Type") != "application/json" or not right:
            return self.answer(403, {"error": "expected application/json and the token"})
        try:
            status, found = self.call(self.path[1:], **json.loads(given))
        except Exception as error:  # no JSON, or a wrong argument
            status, found = 400, {"error": f"{type(error).__name__}: {error}"}
        self.answer(status, found)

    def call(self, name, session, **given):
        if name == "close":
            return 200, {"closed": self.sessions.pop(session, None) is not None}
        if name == "begin":
            self.sessions.setdefault(session, Latest())
        if session not in self.sessions or name not in ("begin", "observe", "recall", "end"):
            return 404, {"error": f"no call {name!r} of session {session!r}"}
        return 200, getattr(self.sessions[session], name)(**given) or {}

    def answer(self, status, record):
        data = json.dumps(record).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
