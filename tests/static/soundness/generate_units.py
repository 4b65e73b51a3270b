"""Small threaded programs for the consistency detector: functions that work on shared objects in one critical section, in several, or in none,
with pauses in between, so that others come there. What is proven not to be interleaved must not be in what it finds."""
import random

HEAD = """#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct thing {
    long a, b, c;
    pthread_mutex_t own;
};

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
static struct thing things[2] = {{.own = PTHREAD_MUTEX_INITIALIZER}, {.own = PTHREAD_MUTEX_INITIALIZER}};
static long alone, x, y, z;

static void nap(void)
{
    struct timespec t = {0, 300000};
    syscall(SYS_nanosleep, &t, NULL);
}
"""
PLACES = ["x", "y", "z", "t->a", "t->b", "t->c"]
LOCKS = ["&one", "&two", "&t->own"]


class Program:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.guards = {p: self.r.choice([None, *LOCKS[: 2 if p in "xyz" else 3]]) for p in PLACES}
        self.functions = []

    def statement(self, place):
        return self.r.choice([f"had = {place};", f"{place} = had + 1;", f"{place} = {place} + 1;", f"{place} = 7;", f"had += {place};",
                              f"if ({place} > had) {place} = had;"])

    def section(self, n):
        """One critical section, or accesses without one; now and then with the wrong lock."""
        place = self.r.choice(PLACES)
        lock = self.guards[place] if self.r.random() < 0.85 else self.r.choice([None, *LOCKS])
        lines = [self.statement(place) for _ in range(self.r.randint(1, 3))]
        if self.r.random() < 0.5:
            lines.insert(self.r.randint(0, len(lines)), "nap();")
        if n and self.r.random() < 0.4:
            lines.append(f"had += work{self.r.randrange(n)}({self.r.choice(['t', 't', '&things[1]'])}, had);" if not lock else "had++;")
        return [f"pthread_mutex_lock({lock});", *lines, f"pthread_mutex_unlock({lock});"] if lock else lines

    def function(self, n):
        body = ["long had = more;"]
        for _ in range(self.r.randint(1, 4)):
            body += self.section(n)
            if self.r.random() < 0.8:
                body.append("nap();")
        inline = self.r.choice(["", "__attribute__((noinline)) "])
        return f"{inline}static long work{n}(struct thing *t, long more)\n{{\n" + "".join(f"    {line}\n" for line in body) + "    return had & 7;\n}\n"

    def text(self):
        n = self.r.randint(2, 5)
        functions = [self.function(k) for k in range(n)]
        calls = [f"        sum += work{self.r.randrange(n)}(&things[{self.r.choice(['0', '0', 'i & 1'])}], i);" for _ in range(self.r.randint(1, 3))]
        before, after = (self.section(0) if self.r.random() < 0.6 else [] for _ in range(2))
        threads = self.r.randint(2, 3)
        main = ["    struct thing *t = &things[0];", "    long had = argc;", "    pthread_t all[3];", "    (void)argv;", "    alone = 3;",
                *("    " + s for s in before), f"    for (int i = 0; i < {threads}; i++)", "        pthread_create(&all[i], NULL, run, NULL);",
                *(["    " + s for s in self.section(n)] if self.r.random() < 0.5 else []),
                f"    for (int i = 0; i < {threads}; i++)", "        pthread_join(all[i], NULL);", *("    " + s for s in after),
                "    printf(\"%d\\n\", had + alone + x + y + z + t->a > 0);", "    return 0;"]
        run = "static void *run(void *arg)\n{\n    long sum = alone;\n    for (int i = 0; i < 6; i++) {\n" + "\n".join(calls) + \
            "\n    }\n    return sum < -1 ? arg : NULL;\n}\n"
        return "\n".join([HEAD, *functions, run, "int main(int argc, char **argv)\n{", *main, "}\n"])


def generate(seed):
    return Program(seed).text()
