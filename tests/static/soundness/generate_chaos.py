"""Programs without any discipline: globals, fields, arrays, heap, function pointers, locks of all sorts, starts and joins in loops and out
of them, conditions, once, atomics, constructors, exit handlers at random. They always end and never leave their objects."""
import random

HEAD = """/* Random program {seed} without discipline: see tests/static/soundness. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct box {{
    long a, b;
    long v[4];
    pthread_mutex_t lock;
    struct box *next;
    long *data;
}};

static long g0, g1, g2, g3;
static long arr0[16], arr1[16];
static struct box one, row[8];
static struct box *hp0, *hp1;
static pthread_mutex_t m0 = PTHREAD_MUTEX_INITIALIZER, m1 = PTHREAD_MUTEX_INITIALIZER, m2 = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t many[16];
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_barrier_t barrier;
static int ready;
static _Atomic long flag;
static _Atomic(struct box *) shown;
static __thread long tls[16];

static struct box *make(void)
{{
    struct box *p = calloc(3, sizeof *p);
    for (int k = 0; k < 3; k++) {{
        pthread_mutex_init(&p[k].lock, NULL);
        p[k].data = calloc(16, sizeof(long));
    }}
    return p;
}}

static void take(struct box *p)
{{
    pthread_mutex_lock(&p->lock);
}}

static void give(struct box *p)
{{
    pthread_mutex_unlock(&p->lock);
}}
"""

BOXES = ["(&one)", "hp0", "hp1", "(&row[1])"]


class Writer:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.seed = seed
        self.out = []
        self.depth = 1
        self.n = 0
        self.box = None     # a parameter that points to a box
        self.number = None  # a parameter that is a small number
        self.level = 0      # locks must be taken upwards
        self.callees = []
        self.indirect = False

    def line(self, text):
        self.out.append("    " * self.depth + text)

    def pick(self, *options):
        return self.r.choice(options)

    def name(self):
        self.n += 1
        return f"x{self.n}"

    def a_box(self):
        own = [self.box] * 3 if self.box else []
        return self.r.choice(own + BOXES)

    def index(self):
        if self.number and self.r.random() < 0.7:
            return self.pick(self.number, self.number, f"{self.number} + 1", f"{self.number} ^ 1")
        return self.pick("0", "1", "2", "3")

    def place(self):
        """Something long that can be read and written."""
        kind = self.r.randrange(10)
        if kind < 3:
            return self.pick("g0", "g1", "g2", "g3")
        if kind < 5:
            return f"{self.pick('arr0', 'arr1')}[{self.index()}]"
        if kind == 5 and self.box:
            return f"{self.box}[1].{self.pick('a', 'b')}"
        if kind == 6:
            return f"{self.a_box()}->v[{self.index()} & 3]"
        if kind == 7:
            return f"{self.a_box()}->data[{self.index()}]"
        if kind == 8 and self.r.random() < 0.3:
            return f"tls[{self.index()}]"
        return f"{self.a_box()}->{self.pick('a', 'b')}"

    def access(self):
        at = self.place()
        if self.r.random() < 0.5:
            self.line(f"sink_{self.pick('a', 'b')}({at});")
        else:
            self.line(f"{at} = {self.r.randrange(100)};")

    def body(self, budget):
        for _ in range(self.r.randint(1, 3)):
            self.statement(budget)

    def locked(self, budget, before, after):
        self.line(before)
        self.body(budget - 1)
        self.line(after)

    def lock(self, budget):
        old, kind = self.level, self.r.randrange(7)
        if kind < 3 and self.level < 3:
            m = self.r.randrange(self.level, 3)
            self.level = m + 1
            self.locked(budget, f"pthread_mutex_lock(&m{m});", f"pthread_mutex_unlock(&m{m});")
        elif kind == 3 and self.level < 4:
            self.level = 4
            way = self.pick("rd", "wr")
            self.locked(budget, f"pthread_rwlock_{way}lock(&rw);", "pthread_rwlock_unlock(&rw);")
        elif kind == 4 and self.level < 5:
            self.level = 9
            i = self.index()
            self.locked(budget, f"pthread_mutex_lock(&many[{i}]);", f"pthread_mutex_unlock(&many[{i}]);")
        elif kind == 5 and self.level < 5:
            self.level = 9
            p, x = self.a_box(), self.name()
            self.line(f"struct box *{x} = {p};")
            self.locked(budget, f"take({x});", f"give({x});")
        elif self.level < 3:
            m = self.r.randrange(self.level, 3)
            self.level = 9
            self.line(f"if (pthread_mutex_trylock(&m{m}) == 0) {{")
            self.depth += 1
            self.body(budget - 1)
            self.line(f"pthread_mutex_unlock(&m{m});")
            self.depth -= 1
            self.line("}")
        self.level = old

    def statement(self, budget):
        kind = self.r.randrange(20)
        if budget <= 0 or kind < 9:
            self.access()
        elif kind < 13:
            self.lock(budget)
        elif kind == 13 and self.callees and self.level == 0:
            self.line(f"{self.r.choice(self.callees)}({self.a_box()}, {self.index()});")
        elif kind == 14 and self.indirect and self.level == 0:
            self.line(f"table[{self.index()} & 1]({self.a_box()}, {self.index()});")
        elif kind == 15:
            x = self.name()
            order = self.pick("memory_order_relaxed", "memory_order_release", "memory_order_seq_cst")
            self.line(f"struct box *{x} = make();")
            self.line(f"{x}->a = 1;")
            self.line(f"atomic_store_explicit(&shown, {x}, {order});")
        elif kind == 16:
            x, old = self.name(), self.box
            order = self.pick("memory_order_relaxed", "memory_order_acquire")
            self.line(f"struct box *{x} = atomic_load_explicit(&shown, {order});")
            self.line(f"if ({x}) {{")
            self.depth += 1
            self.box = x
            self.body(0)
            self.box = old
            self.depth -= 1
            self.line("}")
        elif kind == 17:
            self.line(f"if ({self.pick('g0 & 1', 'argc_copy > 1', 'argc_copy == 1', 'atomic_load(&flag)')}) {{")
            self.depth += 1
            self.body(budget - 1)
            self.depth -= 1
            self.line("}")
        elif kind == 18 and self.r.random() < 0.2:
            self.line(f"{self.a_box()}->data = tls;")
        elif kind == 18 and self.level == 0:
            self.line("pthread_once(&once, first);")
        else:
            x, old = self.name(), self.box
            self.line(f"struct box *{x} = make();")
            self.box = x
            self.body(0)
            self.box = old
            if self.r.random() < 0.4:
                m = self.r.randrange(3) if self.level == 0 else None
                if m is not None:
                    self.line(f"pthread_mutex_lock(&m{m});")
                self.line(f"{self.pick('hp0', 'hp1')} = {x};")
                if m is not None:
                    self.line(f"pthread_mutex_unlock(&m{m});")

    def function(self, head, budget, extra=()):
        self.line_at(0, head)
        self.line_at(0, "{")
        self.depth = 1
        self.level = 0
        for text in extra:
            self.line(text)
        self.body(budget)
        self.body(budget)

    def line_at(self, depth, text):
        self.out.append("    " * depth + text)

    def end(self, text=None):
        if text:
            self.line(text)
        self.line_at(0, "}")
        self.line_at(0, "")

    def helpers(self):
        self.line_at(0, "static int argc_copy;")
        for s in "ab":
            self.line_at(0, f"__attribute__((noinline, optnone)) static void sink_{s}(long x) {{ (void)x; }}")
        self.line_at(0, "static void (*table[2])(struct box *, long);")
        self.box = self.number = None
        self.function("static void first(void)", 0)
        self.end()
        for k in range(3):
            self.box, self.number = "p", "i"
            self.function(f"static void help{k}(struct box *p, long i)", 1)
            self.end()
            self.callees.append(f"help{k}")
        self.indirect = True
        self.line_at(0, "static void (*table[2])(struct box *, long) = {help0, help1};")
        self.line_at(0, "")

    def routine(self, k):
        """What a thread runs: on a box of its own or shared, or with a number."""
        kind = self.pick("box", "number", "none")
        self.box = "p" if kind == "box" else None
        self.number = "i" if kind == "number" else None
        extra = {"box": ["struct box *p = arg;"], "number": ["long i = (long)arg;"], "none": ["(void)arg;"]}[kind]
        self.function(f"static void *run{k}(void *arg)", 2, extra)
        if self.waits[k]:
            self.line("pthread_mutex_lock(&m0);")
            self.line("while (!ready)")
            self.line("    pthread_cond_wait(&cond, &m0);")
            self.line("pthread_mutex_unlock(&m0);")
            self.body(1)
        if self.barriers == k:
            self.line("pthread_barrier_wait(&barrier);")
            self.body(1)
        if self.number and self.r.random() < 0.5:
            self.line("if (i == 0) {")
            self.depth += 1
            self.body(1)
            self.depth -= 1
            self.line("}")
        self.end("return NULL;")
        return kind

    def argument(self, kind, k):
        if kind == "number":
            return f"(void *)(long){k}"
        if kind == "box":
            return self.pick(f"&row[{k}]", f"&row[{k}]", "&one", "hp0", "make()", "&row[2]")
        return "NULL"

    def start(self, k, kind):
        """Starts the threads of one routine and says how they can be joined."""
        count = self.counts[k]
        if self.r.random() < 0.6 or count > 2:
            self.line(f"for (int k = 0; k < {count}; k++) {{")
            self.depth += 1
            old = self.box, self.number
            self.box, self.number = "(&row[k])", "k"
            if self.r.random() < 0.5:
                self.body(0)
            self.box, self.number = old
            self.line(f"pthread_create(&t{k}[k], NULL, run{k}, {self.argument(kind, 'k')});")
            self.depth -= 1
            self.line("}")
            return [f"for (int k = 0; k < {count}; k++) pthread_join(t{k}[k], NULL);"]
        joins = []
        for n in range(count):
            self.line(f"pthread_create(&t{k}[{n}], NULL, run{k}, {self.argument(kind, n)});")
            joins.append(f"pthread_join(t{k}[{n}], NULL);")
        return joins

    def main(self, kinds):
        for k in range(len(kinds)):
            self.line_at(0, f"static pthread_t t{k}[4];")
        if self.r.random() < 0.3:
            self.box = self.number = None
            self.function("static void late(void)", 0)
            self.end()
            self.atexit = True
        else:
            self.atexit = False
        if self.r.random() < 0.3:
            self.box = self.number = None
            self.line_at(0, "__attribute__((constructor)) static void early(void)")
            self.line_at(0, "{")
            self.line("hp0 = make();")
            self.line("hp1 = make();")
            self.line("g0 = 1;")
            self.end()
        self.box = self.number = None
        self.function("int main(int argc, char **argv)", 0,
                      ["(void)argv;", "argc_copy = argc;", "hp0 = make();", "hp1 = make();", "one.data = calloc(16, sizeof(long));",
                       "for (int k = 0; k < 8; k++) row[k].data = calloc(16, sizeof(long));",
                       f"pthread_barrier_init(&barrier, NULL, {self.counts[self.barriers]});"])
        if self.atexit:
            self.line("atexit(late);")
        joins = []
        for k, kind in enumerate(kinds):
            joins += self.start(k, kind)
            self.body(1)
            if self.r.random() < 0.3:
                for j in joins:
                    self.hurry()
                    self.line(j)
                joins = []
                self.body(1)
        self.hurry()
        for j in joins:
            kept = self.r.random()
            if kept < 0.8:
                self.line(j)
            elif kept < 0.9:
                self.line(f"if (argc < 9) {{ {j} }}")
        self.body(1)
        self.line("usleep(2000);")
        self.end("return 0;")

    def hurry(self):
        """Before anybody is waited for, those who wait are woken."""
        self.line("pthread_mutex_lock(&m0);")
        self.line("ready = 1;")
        self.line("pthread_cond_broadcast(&cond);")
        self.line("pthread_mutex_unlock(&m0);")

    def write(self):
        n = self.r.randint(1, 3)
        self.counts = [self.r.randint(1, 3) for _ in range(n)]
        self.waits = [self.r.random() < 0.25 for _ in range(n)]
        self.barriers = self.r.randrange(n)
        self.helpers()
        kinds = [self.routine(k) for k in range(n)]
        self.main(kinds)
        return HEAD.format(seed=self.seed) + "\n" + "\n".join(self.out) + "\n"


def generate(seed):
    return Writer(seed).write()

