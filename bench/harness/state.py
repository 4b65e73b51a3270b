"""What a run has measured so far, so that an interrupted one goes on where it stopped. Kept in the cache, keyed by content."""
import fcntl
import hashlib
import json
import os
import threading
import time
import uuid
from pathlib import Path

from .proc import Failure

_KEEP_SECONDS = 14 * 86400


def default_cache():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.environ.get("DEADHEAT_BENCH_CACHE") or os.path.join(home, "deadheat-bench")


def digest(*parts):
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:24]


class State:
    """Records of finished measurements, one JSON line each. Those of an unfinished session are taken up again; those of earlier,
    finished ones only when asked to reuse."""

    def __init__(self, home, reuse=False):
        self.home = Path(home)
        self.home.mkdir(parents=True, exist_ok=True)
        self._own = open(self.home / "lock", "w")
        try:
            fcntl.flock(self._own, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as e:
            raise Failure(f"{self.home}: another run is using this cache") from e
        self._path, self._marker = self.home / "measured.jsonl", self.home / "unfinished"
        self.session = self._marker.read_text().strip() if self._marker.exists() else ""
        self.resumed = bool(self.session)
        self.session = self.session or uuid.uuid4().hex
        self._marker.write_text(self.session + "\n")
        self._records, self._guard, self.taken = {}, threading.Lock(), 0
        self._load(reuse)

    def _load(self, reuse):
        kept = []
        for line in self._path.read_text().splitlines() if self._path.exists() else []:
            try:
                entry = json.loads(line)
                fresh = entry["time"] > time.time() - _KEEP_SECONDS
            except (ValueError, KeyError, TypeError):
                continue  # the line at which a run was killed
            if fresh:
                kept.append(json.dumps(entry) + "\n")
                if reuse or entry["session"] == self.session:
                    self._records[entry["key"]] = entry["value"]
        self._path.write_text("".join(kept))

    def get(self, key):
        with self._guard:
            self.taken += key in self._records
            return self._records.get(key)

    def put(self, key, value):
        entry = {"key": key, "session": self.session, "time": int(time.time()), "value": value}
        with self._guard:
            self._records[key] = value
            with open(self._path, "a") as f:
                f.write(json.dumps(entry) + "\n")
        return value

    def finish(self):
        self._marker.unlink(missing_ok=True)
