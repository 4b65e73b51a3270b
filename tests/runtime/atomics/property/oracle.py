"""Happens-before of C++20 by its words, on a trace in executed order; and traces at random.

An event is (thread, kind, variable, order, failure): r w plain; L S A atomic load, store, add; C X compare-exchange that
succeeds, fails; F fence. Orders are numbers of dh_order. Every load reads the last store: the trace is what happened.
"""
import random

NONE, RELAXED, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST = range(6)
ACQUIRING = {ACQUIRE, ACQ_REL, SEQ_CST}
RELEASING = {RELEASE, ACQ_REL, SEQ_CST}
RULES = ("operation-operation", "fence-fence", "fence-operation", "operation-fence")


class Event:
    def __init__(self, index, words):
        self.index = index
        self.thread, self.kind, self.variable, self.order, self.failure = words
        self.atomic = self.kind in "LSACX"
        self.reads = self.kind in "rLACX"
        self.writes = self.kind in "wSAC"
        self.rmw = self.kind in "AC"
        if self.kind == "X":
            self.order = self.failure


def release_sequences(events):
    """For each event that modifies an atomic: the set of events in the (hypothetical) release sequence it heads."""
    sequences, running = {}, {}
    for e in events:
        if not (e.atomic and e.writes):
            continue
        if not e.rmw:
            running[e.variable] = []
        running.setdefault(e.variable, []).append(e)
        sequences[e.index] = {e.index}
        for head in running[e.variable]:
            sequences[head.index].add(e.index)
    return sequences


def reads_from(events):
    """For each atomic event that reads: the event whose value it sees."""
    last, source = {}, {}
    for e in events:
        if e.atomic and e.reads and e.variable in last:
            source[e.index] = last[e.variable]
        if e.writes and e.variable is not None:
            last[e.variable] = e.index if e.atomic else None
    return source


def synchronisations(events, rules):
    """Pairs (A, B) with A synchronising with B, [atomics.order] 2 and [atomics.fences] 2-4."""
    sequences, source = release_sequences(events), reads_from(events)
    for head in events:
        if head.index not in sequences:
            continue
        fences = [f for f in events[:head.index] if f.kind == "F" and f.thread == head.thread and f.order in RELEASING]
        for y in events[head.index + 1:]:
            if source.get(y.index) is None or source[y.index] not in sequences[head.index]:
                continue
            later = [f for f in events[y.index:] if f.kind == "F" and f.thread == y.thread and f.order in ACQUIRING]
            if head.order in RELEASING and y.order in ACQUIRING and RULES[0] in rules:
                yield head, y
            if RULES[1] in rules:
                yield from ((a, b) for a in fences for b in later)
            if y.order in ACQUIRING and RULES[2] in rules:
                yield from ((a, y) for a in fences)
            if head.order in RELEASING and RULES[3] in rules:
                yield from ((head, b) for b in later)


def races(words, rules=RULES):
    """The variables with a data race: conflicting, not both atomic, unordered by happens-before."""
    events = [Event(i, w) for i, w in enumerate(words)]
    direct = [set() for _ in events]
    for a, b in synchronisations(events, rules):
        direct[b.index].add(a.index)
    before, last = [0] * len(events), {}
    for e in events: # every edge leads forward in the executed order
        if e.thread in last:
            direct[e.index].add(last[e.thread])
        last[e.thread] = e.index
        for d in direct[e.index]:
            before[e.index] |= before[d] | 1 << d
    raced = set()
    for e in events:
        for f in events[:e.index]:
            conflict = f.variable == e.variable and e.variable is not None and (e.writes or f.writes)
            if conflict and not (e.atomic and f.atomic) and e.thread != f.thread and \
                    not before[e.index] >> f.index & 1:
                raced.add(e.variable)
    return raced


# ---- traces ----

LOADS, STORES = [RELAXED, ACQUIRE, SEQ_CST], [RELAXED, RELEASE, SEQ_CST]
ALL, FENCES = [RELAXED, RELAXED, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST], [ACQUIRE, RELEASE, ACQ_REL, SEQ_CST]


class Trace:
    def __init__(self, seed):
        self.random = r = random.Random(seed)
        self.threads = r.randint(2, 4)
        self.plain = list(range(r.randint(2, 6)))
        self.atomics = list(range(len(self.plain), len(self.plain) + r.randint(1, 3)))
        self.mixed = [len(self.plain) + len(self.atomics)] if r.random() < 0.3 else []
        self.variables = len(self.plain) + len(self.atomics) + len(self.mixed)
        self.sizes = [r.choice([1, 2, 4, 8, 16]) for _ in range(self.variables)]
        self.weights = [r.uniform(0.5, 2) for _ in range(3)]
        self.care = r.choice([0, 0.8, 0.9, 1])
        while True:
            self.events = []
            while len(self.events) < r.randint(8, 40):
                if r.random() < 0.25:
                    self.message()
                else:
                    self.events.append(self.event())
            if not self.rereads():
                break

    def message(self):
        """One thread leaves something for another, in a way that may or may not order them; others get between."""
        r = self.random
        writer, reader = r.sample(range(self.threads), 2)
        data, flag = r.choice(self.plain), r.choice(self.atomics)
        steps = [(writer, "w", data, NONE, NONE)]
        if r.random() < 0.5:
            steps.append((writer, "F", None, r.choice(FENCES), NONE))
        kind = r.choice("SSAC")
        steps.append((writer, kind, flag, r.choice(STORES if kind == "S" else ALL), RELAXED))
        for _ in range(r.choice([0, 0, 1, 2])):
            kind = r.choice("AACXS")
            steps.append((r.randrange(self.threads), kind, flag, r.choice(STORES if kind == "S" else ALL), r.choice(LOADS)))
        kind = r.choice("LLLAX")
        steps.append((reader, kind, flag, r.choice(LOADS if kind == "L" else ALL), r.choice(LOADS)))
        if r.random() < 0.5:
            steps.append((reader, "F", None, r.choice(FENCES), NONE))
        steps.append((reader, r.choice("rw"), data, NONE, NONE))
        for step in steps:
            self.events.append(step)
            if r.random() < 0.2:
                self.events.append(self.event())

    def event(self):
        r = self.random
        thread = r.randrange(self.threads)
        what = r.choices("pAF", self.weights)[0]
        if what == "F":
            return (thread, "F", None, r.choice(FENCES), NONE)
        if what == "p":
            return self.plain_access()
        kind = r.choice("LLSSAACX")
        order = r.choice({"L": LOADS, "S": STORES}.get(kind, ALL))
        return (thread, kind, r.choice(self.atomics + self.mixed), order, r.choice(LOADS) if kind in "CX" else NONE)

    def plain_access(self):
        """Left to chance nearly everything would race: with care, an access is one that other threads' accesses before
        it are ordered with, so that the trace depends on how they are ordered."""
        r = self.random
        careful, harmless = r.random() < self.care, None
        for _ in range(8):
            thread, variable = r.randrange(self.threads), r.choice(self.plain + self.mixed)
            access = (thread, r.choice("rw"), variable, NONE, NONE)
            if not careful:
                return access
            others = any(e[2] == variable and e[0] != thread and "w" in (e[1], access[1]) for e in self.events)
            if variable not in races(self.events + [access]):
                if others:
                    return access
                harmless = access
        return harmless or (r.randrange(self.threads), "F", None, r.choice(FENCES), NONE)

    def rereads(self):
        """Does an atomic read see a plain write to what was written atomically before? The standard calls that a new
        value without history; the detector lets a variable carry on. No program does that on purpose."""
        state = {}
        for _, kind, variable, _, _ in self.events:
            if kind in "SAC" and state.get(variable) == "plain" and kind != "S":
                return True
            if kind in "LX" and state.get(variable) == "plain":
                return True
            if kind in "SAC":
                state[variable] = "atomic"
            if kind == "w" and state.get(variable) == "atomic":
                state[variable] = "plain"
        return False

    def text(self):
        lines = [f"trace {self.threads} {self.variables}", "size " + " ".join(map(str, self.sizes))]
        lines += [f"{t} {k} {v if v is not None else 0} {o} {f}" for t, k, v, o, f in self.events]
        return "\n".join(lines + ["end", ""])
