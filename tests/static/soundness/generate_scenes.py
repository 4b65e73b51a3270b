"""Programs of a few scenes, each with data of its own, threads of its own and one discipline that keeps them apart: a lock, the lock of the
object, of the element, an object for each thread, start and join, publication, hand-over, once, a barrier. In some scenes the discipline is
broken by the smallest change: the next element, the other lock, one thread not joined, a relaxed store. Accesses stand in the open or in
helpers that scenes share."""
import random

HEAD = """/* Random program {seed} of scenes: see tests/static/soundness. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct box {{
    long a, b;
    pthread_mutex_t lock;
    struct box *next;
}};

static int count_arguments;

__attribute__((noinline)) static void set(long *at, long to) {{ *at = to; }}
__attribute__((noinline)) static void add(long *at, long by) {{ *at += by; }}
__attribute__((noinline, optnone)) static void use(long value) {{ (void)value; }}
__attribute__((noinline)) static void look(const long *at) {{ use(*at); }}
static void lock_box(struct box *p) {{ pthread_mutex_lock(&p->lock); }}
static void unlock_box(struct box *p) {{ pthread_mutex_unlock(&p->lock); }}
static struct box *make_box(void)
{{
    struct box *p = calloc(2, sizeof *p);
    pthread_mutex_init(&p[0].lock, NULL);
    pthread_mutex_init(&p[1].lock, NULL);
    return p;
}}
"""


class Scene:
    """Declarations, what main does before, after the start and after the join."""

    def __init__(self, r, k):
        self.r, self.k = r, k
        self.bad = r.random() < 0.45
        self.threads = r.randint(2, 3)
        self.declared, self.before, self.during, self.after = [], [], [], []
        self.extra = self.threads

    def twist(self, right, *wrong):
        return self.r.choice(wrong) if self.bad else right

    def write(self, at):
        return self.r.choice([f"{at} = {self.r.randrange(90)};", f"{at} += 2;", f"set(&{at}, 3);", f"add(&{at}, 4);"])

    def read(self, at):
        return self.r.choice([f"use({at});", f"look(&{at});"])

    def any(self, at):
        return self.r.choice([self.write, self.read])(at)

    def declare(self, *lines):
        self.declared += lines

    def routine(self, *body):
        k = self.k
        self.declare(f"static pthread_t t{k}[4];", f"static void *run{k}(void *arg)", "{", "    (void)arg;",
                     *("    " + line for line in body), "    return NULL;", "}")

    def start(self, argument="NULL", inside=()):
        k, n = self.k, self.threads
        if inside or self.r.random() < 0.6:
            return [f"for (int k = 0; k < {n}; k++) {{", *("    " + line for line in inside),
                    f"    pthread_create(&t{k}[k], NULL, run{k}, {argument});", "}"]
        return [f"pthread_create(&t{k}[{n}], NULL, run{k}, {argument.replace('[k]', f'[{n}]').replace('(long)k', f'(long){n}')});"
                for n in range(n)]

    def join(self, whole=True):
        k, n = self.k, self.threads
        if not whole:
            return self.r.choice([[f"for (int k = 0; k < {n - 1}; k++)", f"    pthread_join(t{k}[k], NULL);"],
                                  [f"for (int k = 1; k < {n}; k++)", f"    pthread_join(t{k}[k], NULL);"],
                                  [f"pthread_join(t{k}[0], NULL);"],
                                  [f"if (count_arguments > 5)", f"    for (int k = 0; k < {n}; k++)", f"        pthread_join(t{k}[k], NULL);"]])
        if self.r.random() < 0.7:
            return [f"for (int k = 0; k < {n}; k++)", f"    pthread_join(t{k}[k], NULL);"]
        return [f"pthread_join(t{k}[{n}], NULL);" for n in range(n)]


def global_lock(s):
    k = s.k
    s.declare(f"static long n{k};", f"static pthread_mutex_t m{k} = PTHREAD_MUTEX_INITIALIZER, o{k} = PTHREAD_MUTEX_INITIALIZER;")
    inside = [f"pthread_mutex_lock(&m{k});", s.any(f"n{k}"), f"pthread_mutex_unlock(&m{k});"]
    odd = s.twist(inside, [s.any(f"n{k}")], [f"pthread_mutex_lock(&o{k});", s.write(f"n{k}"), f"pthread_mutex_unlock(&o{k});"],
                  [f"if (pthread_mutex_trylock(&m{k}) != 0)", f"    return NULL;", f"pthread_mutex_unlock(&m{k});", s.write(f"n{k}")])
    s.routine(*inside, *odd)
    s.before = [s.write(f"n{k}"), *s.start()]
    s.during = inside if s.r.random() < 0.5 else []
    s.after = [*s.join(), s.read(f"n{k}")]


def read_lock(s):
    k = s.k
    s.declare(f"static long n{k};", f"static pthread_rwlock_t m{k} = PTHREAD_RWLOCK_INITIALIZER;")
    s.routine(f"pthread_rwlock_rdlock(&m{k});", s.twist(s.read(f"n{k}"), s.write(f"n{k}")), f"pthread_rwlock_unlock(&m{k});",
              f"pthread_rwlock_wrlock(&m{k});", s.write(f"n{k}"), f"pthread_rwlock_unlock(&m{k});")
    s.before, s.after = s.start(), [*s.join(), s.read(f"n{k}")]


def own_element(s):
    k = s.k
    s.declare(f"static struct box row{k}[8];")
    s.routine("struct box *p = arg;", s.any("p->a"), s.write("p->b"), s.twist(s.any("p->a"), s.write("p[1].a"), s.any("(p + 1)->b")))
    s.before = s.start(f"&row{k}[k]", [s.write(f"row{k}[k].a")])
    s.during = s.twist([], [s.any(f"row{k}[0].a")], [s.write(f"row{k}[{s.threads - 1}].b")], [])
    s.after = [*s.join(), s.read(f"row{k}[0].a"), s.any(f"row{k}[1].b")]


def own_scalar(s):
    """An element of an array of numbers for each thread."""
    k = s.k
    s.declare(f"static long part{k}[8];")
    s.routine("long *p = arg;", s.write("*p"), s.twist(s.any("*p"), s.any("p[1]"), s.any("*(p + 1)")))
    s.before = s.start(f"&part{k}[k]")
    s.after = [*s.join(), s.read(f"part{k}[1]")]


def own_heap(s):
    k = s.k
    s.declare(f"static struct box *all{k}[4];")
    s.routine("struct box *p = arg;", s.write("p->a"), s.any("p->b"))
    s.before = s.start(f"all{k}[k]", [f"all{k}[k] = {s.twist('make_box()', f'k ? all{k}[0] : make_box()')};", s.write(f"all{k}[k]->a")])
    s.during = s.twist([], [s.write(f"all{k}[0]->b")], [])
    s.after = [*s.join(), s.read(f"all{k}[0]->a")]


def index_lock(s):
    k = s.k
    s.declare(f"static long data{k}[16];", f"static pthread_mutex_t m{k}[16];")
    at = s.twist(f"data{k}[i]", f"data{k}[i + 1]", f"(data{k} + 1)[i]", f"data{k}[i ^ 1]")
    s.routine("long i = (long)arg & 3;", f"pthread_mutex_lock(&m{k}[i]);", s.write(f"data{k}[i]"), f"pthread_mutex_unlock(&m{k}[i]);",
              f"i = i ? i - 1 : 0;", f"pthread_mutex_lock(&m{k}[i]);", s.write(at), f"pthread_mutex_unlock(&m{k}[i]);")
    s.before, s.after = s.start("(void *)(long)k"), [*s.join(), s.read(f"data{k}[1]")]


def object_lock(s):
    """Every object has its lock; all threads work on all of them."""
    k = s.k
    heap = s.r.random() < 0.5
    s.declare(f"static struct box row{k}[8], *heap{k};")
    base = f"heap{k}" if heap else f"row{k}"
    at = s.twist("p->a", "p[1].a", "(p + 1)->a")
    s.routine(f"struct box *p = {base} + ((long)arg & 1);", "lock_box(p);", s.write("p->a"), "unlock_box(p);",
              f"p = {base};", "pthread_mutex_lock(&p->lock);", s.write(at), s.any("p->b"), "pthread_mutex_unlock(&p->lock);")
    s.before = [f"heap{k} = make_box();", *s.start("(void *)(long)k")]
    s.after = [*s.join(), s.read(f"{base}[0].a")]


def host_lock(s):
    """A list under the lock of its head."""
    k = s.k
    s.declare(f"static struct box head{k};")
    s.routine("struct box *mine = make_box();", s.write("mine->a"), f"lock_box(&head{k});", f"mine->next = head{k}.next;",
              f"head{k}.next = mine;", f"for (struct box *p = head{k}.next; p; p = p->next)", "    " + s.any("p->b"), f"unlock_box(&head{k});",
              *s.twist([], [s.write("mine->b")], [s.write("mine->a"), s.write("mine->b")]))
    s.before, s.after = s.start(), [*s.join(), s.read(f"head{k}.next->b")]


def publish(s):
    k = s.k
    s.declare(f"static _Atomic(struct box *) shown{k};", f"static struct box *plain{k};",
              f"static pthread_mutex_t m{k} = PTHREAD_MUTEX_INITIALIZER;")
    if s.r.random() < 0.5:
        order = s.twist("release", "relaxed")
        show = [f"atomic_store_explicit(&shown{k}, mine, memory_order_{order});"]
        load = [f"struct box *p = atomic_load_explicit(&shown{k}, memory_order_{s.r.choice(['acquire', 'acquire', 'relaxed'])});"]
    else:
        show = s.twist([f"pthread_mutex_lock(&m{k});", f"plain{k} = mine;", f"pthread_mutex_unlock(&m{k});"], [f"plain{k} = mine;"])
        load = [f"pthread_mutex_lock(&m{k});", f"struct box *p = plain{k};", f"pthread_mutex_unlock(&m{k});"]
    s.routine("struct box *mine = make_box();", s.write("mine->a"), s.write("mine->b"), *show, *load, "if (p)", "    " + s.read("p->a"),
              *s.r.choice([[], [s.write("mine->b")]]), "if (p)", "    " + s.read("p->b"))
    s.before, s.after = s.start(), s.join()


def start_join(s):
    k = s.k
    s.declare(f"static long n{k}, list{k}[8];")
    s.routine(s.read(f"n{k}"), f"for (int k = 0; k < 4; k++)", "    " + s.read(f"list{k}[k]"))
    s.before = [s.write(f"n{k}"), f"for (int k = 0; k < 8; k++)", "    " + s.write(f"list{k}[k]"), *s.start()]
    s.during = s.twist([s.read(f"n{k}")], [s.write(f"n{k}")], [s.write(f"list{k}[2]")], [])
    s.after = [*s.join(not s.bad or bool(s.during)), s.write(f"n{k}"), s.write(f"list{k}[0]")]


def two_rounds(s):
    """Threads of one routine, twice; the first round may still be there."""
    k = s.k
    s.declare(f"static long n{k};")
    s.routine(s.read(f"n{k}"))
    s.before = [s.write(f"n{k}"), *s.start(), *(s.join(not s.bad)), s.write(f"n{k}"), *s.start()]
    s.after = [*s.join(), s.write(f"n{k}")]


def own_number(s):
    k = s.k
    s.declare(f"static long part{k}[8], one{k};")
    at = s.twist(f"part{k}[i]", f"part{k}[i + 1]", f"part{k}[i & 1]")
    s.routine("long i = (long)arg;", s.write(f"part{k}[i]"), s.any(at), "if (i == 0)", "    " + s.write(f"one{k}"),
              f"if (i == {s.twist(0, 1)})", "    " + s.any(f"one{k}"))
    s.before, s.after = s.start("(void *)(long)k"), [*s.join(), s.read(f"part{k}[0]"), s.read(f"one{k}")]


def barrier(s):
    k = s.k
    s.declare(f"static long row{k}[8];", f"static pthread_barrier_t b{k};")
    wait = f"pthread_barrier_wait(&b{k});"
    s.routine("long i = (long)arg;", s.write(f"row{k}[i]"), s.twist(wait, ""), s.read(f"row{k}[(i + 1) % {s.threads}]"), wait,
              s.write(f"row{k}[i]"), s.r.choice(["", s.any(f"row{k}[i]")]))
    if s.bad:  # those who do not wait here must not be waited for
        s.declared = [line for line in s.declared if wait not in line]
    s.before, s.after = [f"pthread_barrier_init(&b{k}, NULL, {s.threads});", *s.start("(void *)(long)k")], s.join()


def thread_local(s):
    k = s.k
    s.declare(f"static __thread long mine{k};", f"static long *shown{k};", f"static pthread_mutex_t m{k} = PTHREAD_MUTEX_INITIALIZER;")
    odd = [f"pthread_mutex_lock(&m{k});", f"if (!shown{k})", f"    shown{k} = &mine{k};", f"long *p = shown{k};", f"pthread_mutex_unlock(&m{k});",
           s.write("*p")]
    s.routine(s.write(f"mine{k}"), *s.twist([], odd), s.read(f"mine{k}"), "usleep(500);")
    s.before, s.after = s.start(), s.join()


def once(s):
    k = s.k
    s.declare(f"static long n{k};", f"static int done{k};", f"static pthread_once_t o{k} = PTHREAD_ONCE_INIT;",
              f"static void first{k}(void)", "{", "    " + s.write(f"n{k}"), f"    done{k} = 1;", "}")
    s.routine(*s.twist([f"pthread_once(&o{k}, first{k});"], [f"if (!done{k})", f"    pthread_once(&o{k}, first{k});"]), s.read(f"n{k}"))
    s.before, s.after = s.start(), [*s.join(), s.read(f"n{k}")]


def condition(s):
    k = s.k
    s.declare(f"static long value{k};", f"static int ready{k};", f"static pthread_mutex_t m{k} = PTHREAD_MUTEX_INITIALIZER;",
              f"static pthread_cond_t c{k} = PTHREAD_COND_INITIALIZER;")
    s.routine(f"pthread_mutex_lock(&m{k});", f"while (!ready{k})", f"    pthread_cond_wait(&c{k}, &m{k});",
              s.read(f"value{k}"), f"pthread_mutex_unlock(&m{k});", *s.r.choice([[], [s.read(f"value{k}")]]))
    put = s.write(f"value{k}")
    s.before = s.start()
    s.during = [put, f"pthread_mutex_lock(&m{k});", f"ready{k} = 1;", f"pthread_cond_broadcast(&c{k});", f"pthread_mutex_unlock(&m{k});",
                *s.twist([], [s.write(f"value{k}")])]
    s.after = s.join()


def queue(s):
    """Boxes handed over through a queue under a lock: the taker's from then on."""
    k = s.k
    s.declare(f"static struct box *first{k};", f"static pthread_mutex_t m{k} = PTHREAD_MUTEX_INITIALIZER;")
    s.routine(f"pthread_mutex_lock(&m{k});", f"struct box *p = first{k};", "if (p)", f"    first{k} = p->next;", f"pthread_mutex_unlock(&m{k});",
              "if (p)", "    " + s.write("p->a"), *s.r.choice([[], ["free(p);"]]))
    put = [f"struct box *q{k} = make_box();", s.write(f"q{k}->a"), f"pthread_mutex_lock(&m{k});", f"q{k}->next = first{k};", f"first{k} = q{k};",
           f"pthread_mutex_unlock(&m{k});"]
    s.before, s.during = s.start(), put + s.twist([], [s.write(f"q{k}->b")])
    s.after = s.join()


def table(s):
    """Functions behind pointers."""
    k = s.k
    s.declare(f"static long n{k};", f"static pthread_mutex_t m{k} = PTHREAD_MUTEX_INITIALIZER;",
              f"static void under{k}(long *p) {{ pthread_mutex_lock(&m{k}); add(p, 1); pthread_mutex_unlock(&m{k}); }}",
              f"static void bare{k}(long *p) {{ {s.twist(f'under{k}(p);', 'add(p, 2);', 'look(p);')} }}",
              f"static void (*const table{k}[2])(long *) = {{under{k}, bare{k}}};")
    s.routine(f"table{k}[0](&n{k});", f"table{k}[count_arguments & 1](&n{k});")
    s.before, s.after = s.start(), [*s.join(), s.read(f"n{k}")]


def at_exit(s):
    k = s.k
    s.declare(f"static long n{k};", f"static void late{k}(void) {{ {s.write(f'n{k}')} }}",
              f"__attribute__((constructor)) static void early{k}(void) {{ {s.write(f'n{k}')} }}")
    s.routine(s.r.choice(["usleep(300);", ""]), s.read(f"n{k}"))
    s.before, s.after = [f"atexit(late{k});", *s.start()], s.twist(s.join(), s.join(False), [])


def copies(s):
    k = s.k
    s.declare(f"static struct box from{k}, to{k};", f"static pthread_mutex_t m{k} = PTHREAD_MUTEX_INITIALIZER;")
    copy = s.r.choice([f"to{k} = from{k};", f"memcpy(&to{k}, &from{k}, sizeof to{k});", f"memset(&to{k}, 0, sizeof to{k});"])
    s.routine(s.twist(f"pthread_mutex_lock(&m{k});", ""), copy, s.read(f"to{k}.b"), s.twist(f"pthread_mutex_unlock(&m{k});", ""))
    if s.bad:
        s.declared = [line for line in s.declared if "_mutex_lock" not in line and "_mutex_unlock" not in line]
    s.before, s.after = [s.write(f"from{k}.b"), *s.start()], [*s.join(), s.read(f"to{k}.a")]


def contexts(s):
    """The same helpers before the start, on objects of one's own, under the lock, after the join, directly and through a pointer; some call
    each other or themselves. Broken, one of these contexts is not what it seems."""
    k = s.k
    s.declare(f"struct pile{k} {{", "    long n, sum, item[8];", f"    struct pile{k} *below;", "};", f"static struct pile{k} *pile{k}, rest{k};",
              f"static pthread_mutex_t m{k} = PTHREAD_MUTEX_INITIALIZER;",
              f"__attribute__((noinline)) static void put{k}(struct pile{k} *p, long x)", "{", "    p->item[p->n & 7] = x;", "    p->n++;",
              "    " + s.any("p->sum"), "}",
              f"__attribute__((noinline)) static long sum{k}(struct pile{k} *p, int depth)", "{",
              f"    return p && depth ? p->sum + sum{k}(p->below, depth - 1) : 0;", "}",
              f"__attribute__((noinline)) static void fill{k}(struct pile{k} *p, int n)", "{", "    for (int i = 0; i < n; i++)",
              f"        put{k}(p, i);", f"    if (n > 3)", f"        fill{k}(p, n - 3);", "}",
              f"static void (*{s.r.choice(['', 'const ', 'volatile '])}by{k})(struct pile{k} *, long) = put{k};")
    locked = [f"pthread_mutex_lock(&m{k});", s.r.choice([f"fill{k}(pile{k}, 2);", f"put{k}(pile{k}, 3);", f"use(sum{k}(pile{k}, 3));"]),
              f"pthread_mutex_unlock(&m{k});"]
    own = [f"struct pile{k} *mine = calloc(1, sizeof *mine);", f"mine->below = {s.twist('NULL', f'pile{k}', f'&rest{k}')};", f"fill{k}(mine, 5);",
           s.r.choice([f"by{k}(mine, 1);", f"put{k}(mine->below ? mine->below : mine, 1);"]), f"use(sum{k}(mine, 2));",
           *s.r.choice([["free(mine);"], []])]
    odd = s.twist([], [f"put{k}(&rest{k}, 1);"], [f"by{k}(pile{k}, 1);"], [f"use(sum{k}(pile{k}, 2));"])
    s.routine(*s.r.choice([locked + own, own + locked, own]), *odd)
    s.before = [f"pile{k} = calloc(1, sizeof *pile{k});", f"fill{k}(pile{k}, {s.r.randint(1, 6)});", f"pile{k}->below = &rest{k};",
                f"put{k}(&rest{k}, 2);", *s.start()]
    s.during = s.r.choice([[], locked])
    s.after = [*s.twist(s.join(), s.join(), s.join(False)), f"use(sum{k}(pile{k}, 3));", f"fill{k}(&rest{k}, 2);"]


SCENES = [contexts, global_lock, read_lock, own_element, own_scalar, own_heap, index_lock, object_lock, host_lock, publish, start_join, two_rounds,
          own_number, barrier, thread_local, once, condition, queue, table, at_exit, copies]


def generate(seed):
    r = random.Random(seed)
    scenes = []
    for k in range(r.randint(2, 4)):
        scenes.append(Scene(r, k))
        r.choice(SCENES)(scenes[-1])
    out = [HEAD.format(seed=seed)]
    for s in scenes:
        out += s.declared + [""]
    out += ["int main(int argc, char **argv)", "{", "    (void)argv;", "    count_arguments = argc;"]
    for part in (["before"], ["during"], ["after"]) if r.random() < 0.5 else (["before", "during", "after"],):
        for s in scenes:
            for p in part:
                out += ["    " + line for line in getattr(s, p)]
    out += ["    usleep(1500);", "    return 0;", "}", ""]
    return "\n".join(out)
