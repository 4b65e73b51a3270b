"""Heap objects of a recorded run by the ownership model of the dissertation (Fig. 7.1, and 7.4 with its errata): owned by who made it, handed
over to a second thread, shared; in conflict when it is shared, was written since it was handed over, and no lock was always held since."""
import bisect
import re
import subprocess

from .proc import Failure

_PLACE = re.compile(r" @([^@]+):(\d+)$")
_SIZE = re.compile(r" size=(\d+)")
_LOCKS = {"lock": True, "unlock": False}


class Object:
    __slots__ = ("place", "owner", "second", "phase", "wrote", "locks")

    def __init__(self, place, owner):
        self.place, self.owner, self.second, self.phase, self.wrote, self.locks = place, owner, None, "owned", False, None

    @property
    def is_shared(self):
        """Accessed by another thread than the one that made it."""
        return self.phase != "owned"

    def access(self, thread, writes, held):
        if self.phase == "owned":
            if thread == self.owner:
                return
            self.phase, self.second = "handoff", thread
        elif self.phase == "handoff" and thread != self.second:
            self.phase = "shared"
        self.wrote |= writes
        self.locks = held if self.locks is None else self.locks & held
        if self.phase == "shared" and self.wrote and not self.locks:
            self.phase = "conflict"


class Heap:
    """Blocks that exist, by address, and all that ever did."""

    def __init__(self):
        self.starts, self.blocks, self.all = [], {}, []

    def add(self, at, size, made):
        self.remove(at)
        bisect.insort(self.starts, at)
        self.blocks[at] = (at + size, made)
        self.all.append(made)

    def remove(self, at):
        if self.blocks.pop(at, None):
            del self.starts[bisect.bisect_left(self.starts, at)]

    def find(self, at):
        n = bisect.bisect_right(self.starts, at)
        end, found = self.blocks[self.starts[n - 1]] if n else (0, None)
        return found if at < end else None


def _address(word):
    return int(word, 16) if word.startswith("0x") else None


def follow(lines):
    """Objects of a dumped trace, dead and alive."""
    heap, held = Heap(), {}
    for line in lines:
        words = line.split()
        if len(words) < 3 or words[0].startswith("#"):
            continue
        thread, kind, at = words[0], words[1], _address(words[2])
        if at is None:
            continue
        if kind in ("read", "write", "atomic"):
            found = heap.find(at)
            if found:
                found.access(thread, kind != "read", held.get(thread, frozenset()))
        elif kind in _LOCKS:
            mine = held.get(thread, frozenset())
            held[thread] = mine | {at} if _LOCKS[kind] else mine - {at}
        elif kind == "alloc" and ("region=heap" in line or "region=" not in line):
            place, size = _PLACE.search(line.rstrip()), _SIZE.search(line)
            if place and size:
                heap.add(at, int(size.group(1)), Object((place.group(1).rsplit("/", 1)[-1], int(place.group(2))), thread))
        elif kind == "free":
            heap.remove(at)
    return heap.all


def record(tool, program, args, home, limit=600):
    """The objects of one run."""
    trace = home / "run.dht"
    argv = [tool, "record", "-o", str(trace), "--", str(program), *map(str, args)]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False, timeout=limit)
    if not trace.exists():
        raise Failure(f"{program.name}: record: {(done.stderr.strip().splitlines() or [done.returncode])[-1]}")
    with subprocess.Popen([tool, "trace", "dump", str(trace)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace") as dump:
        found = follow(dump.stdout)
    trace.unlink()
    if dump.returncode:
        raise Failure(f"{program.name}: trace dump: exit {dump.returncode}")
    return found
