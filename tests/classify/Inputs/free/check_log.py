"""check_log.py LOG [LEAST]: was every value that a free run served legal? The order is computed anew, naively: whole
vector clocks for every record, and the rule of 004 (section 4) for every load. Prints counts; fails when a load got a
value that something hides, or fewer than LEAST loads got one that is not the newest. A log in which one value is
exchanged for a hidden one must fail, which is tried, too."""
import collections
import struct
import sys

ACQUIRE, RELEASE, CLEAR, READ, WRITE, FENCE_ACQUIRE, FENCE_RELEASE, BEGIN, LOAD, STORE = range(1, 11)
RECORD = struct.Struct("<IIB3xIQQ")


def join(to, other):
    for key, n in other.items():
        if to.get(key, 0) < n:
            to[key] = n


class World:
    def __init__(self):
        self.clocks = collections.defaultdict(dict)
        self.objects = collections.defaultdict(dict)
        self.read, self.fenced = collections.defaultdict(dict), {}
        self.history = {}  # (process, address, size): [(value, thread, time, clock)]
        self.loads = self.stale = self.open = 0
        self.hidden = []  # (index of the record, a value that is hidden from it)

    def order(self, kind, process, thread, object, value):
        clock, name = self.clocks[thread], (process, object)
        if kind == ACQUIRE:
            join(clock, self.objects[name])
        elif kind == RELEASE:
            join(self.objects[name], clock)
        elif kind == CLEAR:
            for other in [o for o in self.objects if o[0] == process and object <= o[1] < object + max(value, 1)]:
                self.objects[other] = {}
        elif kind == READ:
            join(self.read[thread], self.objects[name])
        elif kind == WRITE:
            join(self.objects[name], self.fenced.get(thread, {}))
        elif kind == FENCE_ACQUIRE:
            join(clock, self.read[thread])
        elif kind == FENCE_RELEASE:
            self.fenced[thread] = dict(clock)

    def visible(self, history, clock):
        def precedes(w, other):
            return w[1] is None or other.get(w[1], 0) >= w[2]

        return [i for i, w in enumerate(history)
                if not any(precedes(later, clock) and precedes(w, later[3]) for later in history[i + 1:])]

    def load(self, number, where, thread, value):
        history = self.history[where]
        seen = {history[i][0] for i in self.visible(history, self.clocks[thread])}
        self.loads += 1
        self.open += len(seen) > 1
        self.stale += value != history[-1][0]
        self.hidden += [(number, w[0]) for w in history if w[0] not in seen][:1]
        return value in seen

    def step(self, number, record):
        process, index, size, kind, object, value = record
        thread, where = (process, index), (process, object, size)
        self.clocks[thread][thread] = self.clocks[thread].get(thread, 0) + 1
        if kind == BEGIN:
            self.history[where] = [(value, None, 0, {})]
        elif kind == STORE:
            clock = dict(self.clocks[thread])
            self.history[where].append((value, thread, clock[thread], clock))
            del self.history[where][:-64]  # no more are kept there, either
        elif kind == LOAD:
            return self.load(number, where, thread, value)
        else:
            self.order(kind, process, thread, object, value)
        return True


def check(records):
    world = World()
    wrong = [i for i, r in enumerate(records) if not world.step(i, r)]
    return world, wrong


def main():
    least = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    records = list(RECORD.iter_unpack(open(sys.argv[1], "rb").read()))
    assert all(r[3] for r in records), "a record is missing"
    world, wrong = check(records)
    print(f"{len(records)} records, {world.loads} loads, {world.open} open, {world.stale} stale, {len(wrong)} illegal")
    if wrong:
        print("first:", wrong[0], records[wrong[0]])
    caught = True
    if world.hidden:
        i, value = world.hidden[len(world.hidden) // 2]
        caught = i in check(records[:i] + [records[i][:5] + (value,)])[1]
        if not caught:
            print("an illegal value was not noticed")
    return bool(wrong) or not caught or world.stale < least


sys.exit(main())
