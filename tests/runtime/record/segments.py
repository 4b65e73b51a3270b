"""What segments.c accesses, section by section: [(read bytes, written bytes)] of one thread."""
SIZE, SECTIONS = 1 << 16, 60


class Worker:
    def __init__(self, seed):
        self.state = seed

    def next(self, below):
        self.state = (self.state * 1664525 + 1013904223) & 0xFFFFFFFF
        return (self.state >> 8) % below

    def read(self, at, n):
        self.reads.update(range(at, at + n))

    def write(self, at, n):
        self.writes.update(range(at, at + n))

    def sized(self, n, write):
        (self.write if write else self.read)(self.next(SIZE // n) * n, n)

    def update(self, at, n):
        self.read(at, n)
        self.write(at, n)

    def act(self, what):
        if what < 8:
            self.sized(1 << what // 2, what % 2)
        elif what == 8:
            to, source = self.next(2000) * 24, self.next(2000) * 24
            if to != source:
                self.read(source, 24)
                self.write(to, 24)
        elif what == 9:
            start = self.next(4000) * 8
            self.read(start, 8 * self.next(300))
        elif what == 10:
            start = self.next(4000) * 8
            self.update(start, 4 * self.next(300))
        elif what == 11:
            start, n = self.next(4000) * 8, self.next(100)
            step = 1 + self.next(20)
            for i in range(n):
                self.update(start + 2 * i * step, 2)
        elif what == 12:
            start = self.next(50000)
            self.update(start, self.next(200))
        elif what == 13:
            self.read(self.next(64) * 4, 4)
        elif what == 14:
            to, n = self.next(30000), self.next(3000)
            self.write(to, n)
        else:
            at = self.next(SIZE // 8 - 1) * 8 + 4
            self.update(at, 8)

    def sections(self):
        for i in range(SECTIONS):
            self.reads, self.writes = set(), set()
            for _ in range(1 + self.next(3000 if i % 10 == 9 else 30)):
                self.act(self.next(16))
            # An update is told as the write alone.
            yield self.reads - self.writes, self.writes
