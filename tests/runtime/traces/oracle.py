"""Which operations of a trace race, by the words of the definition: no clocks, no epochs, nothing forgotten. For every
operation the set of those that happen before it is kept (bits of a number); two conflicting accesses of a byte race
when the earlier is not in the later one's set.

An object is a number as in interpreter.c. What the library promises is taken as the runtime documents it: a post comes
before every wait that ends later; a plain write to an atomic variable changes nothing of what its readers acquire;
allocating is no access; freeing writes the whole block, and whatever is done to it later is a use after free.
"""
ARENA, BLOCK, MUTEX, RWLOCK, SPIN, SEMAPHORE, BARRIER, COND, ONCE, THREAD, PRIVATE = range(11)
NUMBERS = 64
ACQUIRING, RELEASING = {"acquire", "acq_rel", "seq_cst"}, {"release", "acq_rel", "seq_cst"}
SYNC = ("lock", "lock_timed", "lock_tried", "lock_busy", "unlock", "read_lock", "read_lock_busy", "write_lock",
        "write_lock_busy", "rwlock_unlock", "spin_lock", "spin_unlock", "post", "wait", "wait_tried", "wait_fails", "create",
        "join", "once", "barrier", "cond_wait", "cond_signal", "new", "new_zeroed", "delete", "resize")


class Impossible(Exception):
    """The operation would block, fail or make no sense here."""


def thing(kind, number=0):
    return kind * NUMBERS + number


class Op:
    """(thread, name, object, offset, other, other offset, value, group, position)"""

    def __init__(self, thread, name, object=0, offset=0, other=thing(PRIVATE), other_offset=0, value=0, group=1, position=0):
        self.thread, self.name, self.object, self.offset = thread, name, object, offset
        self.other, self.other_offset, self.value, self.group, self.position = other, other_offset, value, group, position

    def numbers(self, names, value):
        return (self.thread, names[self.name], self.object, self.offset, self.other, self.other_offset, value, self.group,
                self.position)

    def __repr__(self):
        def place(object, offset):
            kind = ("arena", "block", "mutex", "rwlock", "spin", "semaphore", "barrier", "cond", "once", "thread", "own")[object // NUMBERS]
            return f"{kind}{object % NUMBERS if kind not in ('arena', 'own') else ''}+{offset}"
        more = f", {place(self.other, self.other_offset)}" if self.other // NUMBERS != PRIVATE else ""
        return f"thread {self.thread}: {self.name} {place(self.object, self.offset)}{more} value {self.value}"


def split(name):
    """swap_fails16_acquire -> (swap_fails, 16, acquire); read8_unaligned -> (read, 8, unaligned)."""
    base = name.rstrip("_abcdefghijklmnopqrstuvwxyz")
    word = base.rstrip("0123456789")
    return word, int(base[len(word):] or 0), name[len(base):].lstrip("_") if base else ""


PARTS = {}


def parts(name):
    if name not in PARTS:
        PARTS[name] = split(name) if any(c.isdigit() for c in name) else (name, 0, "")
    return PARTS[name]


ATOMIC = {"load": ("a",), "store": ("A",), "fetch_add": ("A",), "exchange": ("A",), "swap": ("A",), "swap_fails": ("a",)}


def accesses(op):
    """[(kind, object, first, end)]: kinds r w plain, a A atomic (capital: writes)."""
    word, size, _ = parts(op.name)
    at, n = (op.object, op.offset), size or op.value
    if word in ATOMIC:
        return [(k, *at, op.offset + size) for k in ATOMIC[word]]
    if word in ("read", "write"):
        return [(word[0], *at, op.offset + size)]
    if word in ("add", "increment"):
        return [("r", *at, op.offset + size), ("w", *at, op.offset + size)]
    if word in ("set", "set_called"):
        return [("w", *at, op.offset + n)]
    if word in ("copy", "copy_called", "move", "assign", "compare"):
        return [("r", op.other, op.other_offset, op.other_offset + n),
                ("r" if word == "compare" else "w", *at, op.offset + n)]
    return []


class Oracle:
    def __init__(self, threads):
        self.known = [0] * threads  # operations that happen before, and its own
        self.alive = [i == 0 for i in range(threads)]
        self.joined = [False] * threads
        self.released, self.seen = [0] * threads, [0] * threads  # by a release fence; by relaxed loads
        self.value = {}  # atomic variable -> what a reader of its value acquires
        self.past = {}  # lock, semaphore, once -> operations; of a rwlock: those of writers
        self.readers_past = {}
        self.owner, self.readers, self.count = {}, {}, {}
        self.held = [0] * threads
        self.blocks = []  # [size, op that freed it or None]
        self.allocated = 0  # index of the last operation that may have reused memory
        self.done = {}  # object -> [(op, thread, kind, first, end)]
        self.ops, self.locks = [], []  # and how many locks were held
        self.races = []  # (later op, earlier op, object, first, end); the earlier is a free: use after free
        self.waiting = None  # a group under way

    # ---- one operation ----

    def step(self, op):
        """Performs it; what races is added to races."""
        i, t = len(self.ops), op.thread
        if not self.alive[t]:
            raise Impossible
        self.in_group(op)
        word, _, order = parts(op.name)
        found = self.check_memory(op)
        before = self.known[t]
        self.locks.append(self.held[t])
        try:
            self.synchronise(op, word, order, i)
        except Impossible:
            self.known[t] = before
            self.locks.pop()
            raise
        self.ops.append(op)
        self.record(op, i, found)

    def in_group(self, op):
        if self.waiting and (op.name != self.waiting[0] or op.position != self.waiting[1]):
            raise Impossible
        if not self.waiting and op.position:
            raise Impossible

    def check_memory(self, op):
        found = accesses(op)
        for _, object, first, end in found:
            if object // NUMBERS == BLOCK:
                self.check_block(object % NUMBERS, first, end)
        return found

    def check_block(self, n, first, end):
        if n >= len(self.blocks):
            raise Impossible
        size, freed = self.blocks[n]
        if end > size:
            raise Impossible
        # What malloc writes into a freed block is not ours to change, and the next block may lie there.
        if freed is not None and (self.allocated > freed or first < 16 or end > size - 8):
            raise Impossible

    def record(self, op, i, found):
        t = op.thread
        for kind, object, first, end in found:
            if object // NUMBERS == PRIVATE:
                continue
            self.against(i, t, kind, object, first, end)
        for kind, object, first, end in found:
            self.done.setdefault(object, []).append((i, t, kind, first, end))

    def against(self, i, t, kind, object, first, end):
        known = self.known[t]
        for j, u, other, start, stop in self.done.get(object, ()):
            lo, hi = max(first, start), min(end, stop)
            if lo >= hi:
                continue
            conflict = (kind in "wA" or other in "wA") and not (kind in "aA" and other in "aA")
            if other == "f" or kind == "f":
                conflict = True
            if conflict and (other == "f" or (u != t and not known >> j & 1)):
                self.races.append((i, j, object, lo, hi))

    # ---- order ----

    def synchronise(self, op, word, order, i):
        t = op.thread
        self.known[t] |= 1 << i
        if word in ATOMIC:
            self.atomic(op, word, order, i)
        elif op.name.startswith("fence_"):
            order = op.name[6:]
            if order in ACQUIRING:
                self.known[t] |= self.seen[t]
            if order in RELEASING:
                self.released[t] = self.known[t]
        elif op.name in SYNC:
            getattr(self, "do_" + op.name)(op, t, i)

    def atomic(self, op, word, order, i):
        t, key = op.thread, (op.object, op.offset)
        if word != "store":
            if order in ACQUIRING:
                self.known[t] |= self.value.get(key, 0)
            else:
                self.seen[t] |= self.value.get(key, 0)
        if word in ("load", "swap_fails"):
            return
        published = self.known[t] if order in RELEASING else self.released[t]
        self.value[key] = published | (0 if word == "store" else self.value.get(key, 0))

    def acquire(self, t, key, past=None):
        self.known[t] |= (self.past if past is None else past).get(key, 0)

    def release(self, t, key, past=None):
        past = self.past if past is None else past
        past[key] = past.get(key, 0) | self.known[t]

    def do_lock(self, op, t, i):
        if self.owner.get(op.object) is not None:
            raise Impossible
        self.owner[op.object] = t
        self.held[t] += 1
        self.acquire(t, op.object)

    do_lock_timed = do_lock_tried = do_spin_lock = do_lock

    def do_lock_busy(self, op, t, i):
        if self.owner.get(op.object) in (None, t):
            raise Impossible

    def do_unlock(self, op, t, i):
        if self.owner.get(op.object) != t:
            raise Impossible
        self.owner[op.object] = None
        self.held[t] -= 1
        self.release(t, op.object)

    do_spin_unlock = do_unlock

    def do_read_lock(self, op, t, i):
        readers = self.readers.setdefault(op.object, set())
        if self.owner.get(op.object) is not None or t in readers:
            raise Impossible
        readers.add(t)
        self.held[t] += 1
        self.acquire(t, op.object)

    def do_read_lock_busy(self, op, t, i):
        if self.owner.get(op.object) in (None, t):
            raise Impossible

    def do_write_lock(self, op, t, i):
        if self.owner.get(op.object) is not None or self.readers.get(op.object):
            raise Impossible
        self.owner[op.object] = t
        self.held[t] += 1
        self.acquire(t, op.object)
        self.acquire(t, op.object, self.readers_past)

    def do_write_lock_busy(self, op, t, i):
        if self.owner.get(op.object) is None and not self.readers.get(op.object):
            raise Impossible
        if self.owner.get(op.object) == t or t in self.readers.get(op.object, ()):
            raise Impossible

    def do_rwlock_unlock(self, op, t, i):
        if self.owner.get(op.object) == t:
            self.owner[op.object] = None
            self.release(t, op.object)
        elif t in self.readers.get(op.object, ()):
            self.readers[op.object].remove(t)
            self.release(t, op.object, self.readers_past)
        else:
            raise Impossible
        self.held[t] -= 1

    def do_post(self, op, t, i):
        self.count[op.object] = self.count.get(op.object, 0) + 1
        self.release(t, op.object)

    def do_wait(self, op, t, i):
        if not self.count.get(op.object):
            raise Impossible
        self.count[op.object] -= 1
        self.acquire(t, op.object)

    do_wait_tried = do_wait

    def do_wait_fails(self, op, t, i):
        if self.count.get(op.object):
            raise Impossible

    def do_create(self, op, t, i):
        n = op.object % NUMBERS
        if n == 0 or self.alive[n] or self.joined[n] or any(o.thread == n for o in self.ops):
            raise Impossible
        self.alive[n] = True
        self.known[n] = self.known[t]
        self.allocated = i

    def do_join(self, op, t, i):
        n = op.other % NUMBERS
        if n in (0, t) or not self.alive[n] or self.held[n]:
            raise Impossible
        self.alive[n], self.joined[n] = False, True
        self.known[t] |= self.known[n]
        self.allocated = i  # the stack of a thread may come and go

    def do_once(self, op, t, i):
        if op.object not in self.past:
            self.past[op.object] = self.known[t]
        self.acquire(t, op.object)

    def do_barrier(self, op, t, i):
        inside = self.waiting[2] if self.waiting else []
        if t in inside:
            raise Impossible
        inside = inside + [t]
        if len(inside) < op.group:
            self.waiting = ("barrier", op.position + 1, inside)
            return
        self.waiting, everything = None, 0
        for u in inside:
            everything |= self.known[u]
        for u in inside:
            self.known[u] = everything

    def do_cond_wait(self, op, t, i):
        if self.owner.get(op.object) is not None:
            raise Impossible
        self.acquire(t, op.object)
        self.release(t, op.object)
        self.waiting = ("cond_signal", 1, t)

    def do_cond_signal(self, op, t, i):
        waiter = self.waiting[2] if self.waiting else t
        if waiter == t:
            raise Impossible
        self.acquire(t, op.object)
        self.release(t, op.object)
        self.acquire(waiter, op.object)
        self.release(waiter, op.object)
        self.waiting = None

    def do_new(self, op, t, i):
        self.blocks.append([op.value, None])
        self.allocated = i

    do_new_zeroed = do_new

    def do_delete(self, op, t, i):
        n = op.object % NUMBERS
        if n >= len(self.blocks) or self.blocks[n][1] is not None:
            raise Impossible
        self.against(i, t, "f", op.object, 0, self.blocks[n][0])
        self.blocks[n][1] = i
        self.done.setdefault(op.object, []).append((i, t, "f", 0, self.blocks[n][0]))

    def do_resize(self, op, t, i):
        self.do_delete(op, t, i)
        self.do_new(op, t, i)

    def whole(self):
        """Nobody waits, and nothing is held that the next trace would find taken."""
        return not self.waiting and not any(self.held)
