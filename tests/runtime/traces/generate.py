"""Traces at random. Left to chance nearly every byte would race: with care, most accesses are ones that the order of the
trace allows, so that the outcome depends on that order; and threads leave each other messages through everything that
orders, or nearly does."""
import random

from oracle import (ARENA, BARRIER, BLOCK, COND, MUTEX, NUMBERS, ONCE, PRIVATE, RWLOCK, SEMAPHORE, SPIN, THREAD, Impossible, Op,
                    Oracle, thing)

LOADS, STORES = ("relaxed", "acquire", "seq_cst"), ("relaxed", "release", "seq_cst")
ALL = ("relaxed", "acquire", "release", "acq_rel", "seq_cst")
FENCES = ("acquire", "release", "acq_rel", "seq_cst")


class Trace:
    def __init__(self, seed):
        self.seed = seed
        self.random = r = random.Random(seed)
        self.threads = r.randint(2, 5)
        self.arena, self.bytes = r.randrange(2), r.choice((16, 24, 40, 72, 136))
        self.sizes = r.choice(((1,), (1, 2), (4,), (8,), (1, 2, 4, 8), (4, 8, 16), (1, 2, 4, 8, 16)))
        self.care = r.choice((0, 0.5, 0.9, 0.97, 1))
        self.locks = r.randint(1, 3)
        self.atomics = self.place_atomics()
        self.weights = [r.uniform(0.2, 1) * w for w in (10, 3, 2, 2, 1, 0.7, 3)]
        self.narrow = r.random() < 0.5  # all at a few places
        self.oracle = Oracle(self.threads)
        self.ops = self.oracle.ops
        self.fill(r.randint(6, 70))

    def place_atomics(self):
        """{offset: size}, apart from each other."""
        r, placed = self.random, {}
        for _ in range(r.randint(1, 3)):
            size = r.choice((1, 2, 4, 8, 16))
            at = r.randrange(self.bytes // size) * size
            if all(at + size <= a or a + s <= at for a, s in placed.items()):
                placed[at] = size
        return placed

    def fill(self, n):
        kinds = (self.access, self.lock_step, self.atomic_step, self.message, self.thread_step, self.group, self.heap_step)
        for i in range(1, self.threads):
            if self.random.random() < 0.7:
                self.add(Op(0, "create", thing(THREAD, i)))
        for _ in range(20 * n):
            if len(self.ops) >= n:
                break
            self.random.choices(kinds, self.weights)[0]()
        self.give_back()

    def give_back(self):
        o = self.oracle
        for object, t in list(o.owner.items()):
            if t is not None:
                self.add(Op(t, {MUTEX: "unlock", RWLOCK: "rwlock_unlock", SPIN: "spin_unlock"}[object // NUMBERS], object))
        for object, readers in o.readers.items():
            for t in sorted(readers):
                self.add(Op(t, "rwlock_unlock", object))

    def add(self, op):
        try:
            self.oracle.step(op)
            return True
        except Impossible:
            return False

    def thread(self):
        return self.random.choice([t for t in range(self.threads) if self.oracle.alive[t]])

    # ---- accesses ----

    def place(self, size, aligned):
        """(object, offset) of `size` bytes."""
        r = self.random
        live = [(n, b) for n, b in enumerate(self.oracle.blocks) if b[0] >= size and
                (b[1] is None or (self.oracle.allocated < b[1] and b[0] >= 24 + size))]
        object, room = thing(ARENA), self.bytes
        if live and r.random() < 0.4:
            n, (room, freed) = r.choice(live)
            object = thing(BLOCK, n)
            if freed is not None:
                at = 16 + r.randrange(room - 24 - size + 1)
                return object, at - (at % aligned if at - at % aligned >= 16 else 0)
        at = r.randrange(room - size + 1)
        if self.narrow and r.random() < 0.7:
            at = min(at, r.randrange(8))
        return object, at - at % aligned

    def some_access(self):
        r, t = self.random, self.thread()
        what = r.random()
        if what < 0.62:
            size = r.choice(self.sizes)
            unaligned = size > 1 and r.random() < 0.25
            name = r.choice(("read", "write")) + str(size) + ("_unaligned" if unaligned else "")
            return Op(t, name, *self.place(size, 1 if unaligned else size))
        if what < 0.72:
            name, size = r.choice((("add4", 4), ("add8", 8), ("increment1", 1), ("read10", 10), ("write10", 10)))
            return Op(t, name, *self.place(size, 16 if size == 10 else size))
        if what < 0.76 and self.bytes >= 40:
            return Op(t, r.choice(("read32_unaligned", "write32_unaligned")), *self.place(32, 1))
        if what < 0.85:
            name = r.choice(("set", "set", "set_called", "set3", "set7", "copy3", "copy7", "set20", "copy20"))
            size = int(name.lstrip("setcopy_ald") or r.randint(1, min(40, self.bytes)))
            if size <= self.bytes:
                return Op(t, name, *self.place(size, 1), value=size)
        name = r.choice(("copy", "copy", "move", "compare", "copy_called", "assign12", "assign24"))
        size = int(name[6:]) if name.startswith("assign") else r.randint(1, 24)
        align = 4 if name.startswith("assign") else 1
        if size > self.bytes:
            return None
        to, other = self.place(size, align), self.place(size, align)
        private = r.random() < 0.3
        if to[0] == other[0] and abs(to[1] - other[1]) < size and name != "move":
            private = True  # memcpy may not overlap
        if private:
            other = (thing(PRIVATE), 16)
        return Op(t, name, *to, *other, value=size)

    def access(self):
        """With care: one that does not race, and conflicts with what another thread did."""
        careful = self.random.random() < self.care
        for _ in range(6):
            op = self.some_access()
            if op and (not careful or not self.would_race(op)):
                self.add(op)
                return

    def would_race(self, op):
        o = self.oracle
        try:
            found = o.check_memory(op)
        except Impossible:
            return True
        n = len(o.races)
        for access in found:
            if access[1] // NUMBERS != PRIVATE:
                o.against(len(o.ops), op.thread, *access)
        raced = len(o.races) > n
        del o.races[n:]
        return raced

    # ---- order ----

    def lock_step(self):
        r, t, n = self.random, self.thread(), self.random.randrange(self.locks)
        o = self.oracle
        kind = r.choice((MUTEX, MUTEX, RWLOCK, RWLOCK, SPIN))
        object = thing(kind, n)
        owner = o.owner.get(object)
        if owner is not None and r.random() < 0.8:
            t = owner
        names = {MUTEX: ("lock", "lock_timed", "lock_tried", "lock_busy", "unlock", "unlock", "unlock"),
                 RWLOCK: ("read_lock", "read_lock", "write_lock", "read_lock_busy", "write_lock_busy", "rwlock_unlock",
                          "rwlock_unlock"), SPIN: ("spin_lock", "spin_unlock")}[kind]
        self.add(Op(t, r.choice(names), object))

    def atomic_on(self, t, kind, at, order):
        size = self.atomics[at]
        other = (thing(PRIVATE), 1) if kind.startswith("swap") else (thing(PRIVATE), 0)
        self.add(Op(t, f"{kind}{size}_{order}", thing(ARENA), at, *other))

    def atomic_step(self):
        r = self.random
        if r.random() < 0.25:
            self.add(Op(self.thread(), "fence_" + r.choice(FENCES)))
            return
        kind = r.choice(("load", "load", "store", "store", "fetch_add", "exchange", "swap", "swap_fails"))
        order = r.choice(LOADS if kind in ("load", "swap_fails") else STORES if kind == "store" else ALL)
        self.atomic_on(self.thread(), kind, r.choice(list(self.atomics)), order)

    def between(self):
        if self.random.random() < 0.25:
            self.access()

    def message(self):
        """One thread leaves something, another takes it, ordered by something or nearly so."""
        r = self.random
        alive = [t for t in range(self.threads) if self.oracle.alive[t]]
        if len(alive) < 2:
            return
        writer, reader = r.sample(alive, 2)
        size = r.choice(self.sizes)
        data = self.place(size, size)
        self.add(Op(writer, f"write{size}", *data))
        self.between()
        r.choice((self.by_atomic, self.by_atomic, self.by_lock, self.by_rwlock, self.by_semaphore, self.by_once))(writer, reader)
        self.between()
        self.add(Op(reader, r.choice((f"write{size}", f"read{size}")), *data))

    def by_atomic(self, writer, reader):
        r, at = self.random, self.random.choice(list(self.atomics))
        if r.random() < 0.4:
            self.add(Op(writer, "fence_" + r.choice(FENCES)))
        kind = r.choice(("store", "store", "fetch_add", "exchange", "swap"))
        self.atomic_on(writer, kind, at, r.choice(STORES if kind == "store" else ALL))
        for _ in range(r.choice((0, 0, 1, 2))):
            kind = r.choice(("fetch_add", "exchange", "swap", "swap_fails", "store"))
            self.atomic_on(self.thread(), kind, at, r.choice({"store": STORES, "swap_fails": LOADS}.get(kind, ALL)))
            self.between()
        kind = r.choice(("load", "load", "fetch_add", "swap_fails"))
        self.atomic_on(reader, kind, at, r.choice(ALL if kind == "fetch_add" else LOADS))
        if r.random() < 0.4:
            self.add(Op(reader, "fence_" + r.choice(FENCES)))

    def by_lock(self, writer, reader):
        r = self.random
        kind, take, give = r.choice(((MUTEX, "lock", "unlock"), (SPIN, "spin_lock", "spin_unlock")))
        locks = [thing(kind, r.randrange(self.locks)) for _ in range(2)]
        for t, lock in zip((writer, reader), locks):
            if self.add(Op(t, take, lock)):
                self.between()
                self.add(Op(t, give, lock))

    def by_rwlock(self, writer, reader):
        r, lock = self.random, thing(RWLOCK, self.random.randrange(self.locks))
        for t in (writer, reader):
            if self.add(Op(t, r.choice(("read_lock", "write_lock")), lock)):
                self.between()
                self.add(Op(t, "rwlock_unlock", lock))

    def by_semaphore(self, writer, reader):
        r, semaphore = self.random, thing(SEMAPHORE, self.random.randrange(self.locks))
        if r.random() < 0.2:
            self.add(Op(reader, "wait_fails", semaphore))
        self.add(Op(writer, "post", semaphore))
        self.between()
        self.add(Op(reader, r.choice(("wait", "wait_tried")), semaphore))

    def by_once(self, writer, reader):
        once = thing(ONCE, self.random.randrange(4))
        self.add(Op(writer, "once", once))
        self.add(Op(reader, "once", once))

    def group(self):
        r = self.random
        alive = [t for t in range(self.threads) if self.oracle.alive[t]]
        if len(alive) < 2:
            return
        if r.random() < 0.5:
            n = r.randint(2, len(alive))
            for i, t in enumerate(r.sample(alive, n)):
                self.add(Op(t, "barrier", thing(BARRIER, n), group=n, position=i))
            return
        a, b = r.sample(alive, 2)
        mutex, cond = thing(MUTEX, r.randrange(self.locks)), thing(COND, r.randrange(4))
        if self.add(Op(a, "cond_wait", mutex, 0, cond, 0, group=2)):
            self.add(Op(b, "cond_signal", mutex, 0, cond, 0, r.randrange(2), 2, 1))

    def thread_step(self):
        r, n = self.random, self.random.randrange(1, self.threads)
        if self.oracle.alive[n] and r.random() < 0.3:
            self.add(Op(self.thread(), "join", thing(MUTEX), 0, thing(THREAD, n)))
        elif not self.oracle.alive[n]:
            self.add(Op(self.thread(), "create", thing(THREAD, n)))

    def heap_step(self):
        r, o = self.random, self.oracle
        live = [n for n, (_, freed) in enumerate(o.blocks) if freed is None]
        what = r.random()
        if what < 0.5 and len(o.blocks) < 20:
            self.add(Op(self.thread(), r.choice(("new", "new", "new_zeroed")), value=r.choice((24, 24, 40, 64, 65, 150))))
        elif live:
            n, t = r.choice(live), self.thread()
            if any(other != "f" and u != t and not o.known[t] >> j & 1 for j, u, other, _, _ in o.done.get(thing(BLOCK, n), ())) \
                    and r.random() < self.care:
                return
            if what < 0.9:
                self.add(Op(t, "delete", thing(BLOCK, n)))
            else:
                self.add(Op(t, "resize", thing(BLOCK, n), value=r.choice((24, 40, 150))))

    # ---- text for the interpreter ----

    def text(self, names):
        return text(self.threads, self.arena, self.bytes, self.ops, names)


def text(threads, arena, size, ops, names):
    lines = [f"{threads} {len(ops)} {arena} {size}"]
    for i, op in enumerate(ops):
        value = op.value if op.value or op.name in ("cond_signal",) else i + 1
        lines.append(" ".join(map(str, op.numbers(names, value))))
    return "\n".join(lines) + "\n"
