"""libevent: its own tests of threads, in one process; threads around one loop, by a client that adds events to it and breaks it."""
from harness.planted import STUCK, UNORDERED, WRONG, Chained, Job, Plant, Sight

LOOP = "event.c"
# Debian's patches make its generated files look old; what makes them anew need not be installed.
KEPT = [f"{word}=:" for word in ("ACLOCAL", "AUTOMAKE", "AUTOCONF", "AUTOHEADER")]


class Libevent(Chained):
    package = "libevent"
    executables = ("test/regress", "ev-loop")
    jobs = (Job("loop", ("ev-loop",)),
            Job("conditions", ("test/regress", "--no-fork", "thread/conditions_simple")),
            Job("notify", ("test/regress", "--no-fork", "thread/no_events")),
            Job("hundred threads", ("test/regress", "--no-fork", "thread/basic")))
    plants = (
        Plant("add", "lock", LOOP, "	EVBASE_ACQUIRE_LOCK(ev->ev_base, th_base_lock);\n\n	res = event_add_nolock_(ev, tv, 0);\n\n	EVBASE_RELEASE_LOCK(ev->ev_base, th_base_lock);",
              "	res = event_add_nolock_(ev, tv, 0);\n", (Sight(UNORDERED + WRONG + STUCK, functions=("event_add",)),)),
        Plant("loopexit-flag", "lock", LOOP, "	EVBASE_ACQUIRE_LOCK(event_base, th_base_lock);\n	event_base->event_break = 1;\n", "	event_base->event_break = 1;\n	EVBASE_ACQUIRE_LOCK(event_base, th_base_lock);\n",
              (Sight(UNORDERED, variables=("*event_break",)),)),
        Plant("once-list", "lock", LOOP, "	EVBASE_ACQUIRE_LOCK(eonce->ev.ev_base, th_base_lock);\n	LIST_REMOVE(eonce, next_once);\n	EVBASE_RELEASE_LOCK(eonce->ev.ev_base, th_base_lock);\n",
              "	LIST_REMOVE(eonce, next_once);\n", (Sight(UNORDERED + WRONG, functions=("event_once_cb",)),)),
    )

    def configure(self, b):
        b.run("./configure", "--disable-shared", "--disable-openssl", "--disable-samples", env={"CFLAGS": "-O1 -g"})

    def build(self, b):
        b.make("include/event2/event-config.h", *KEPT)
        b.make("test/regress", *KEPT)
        self.rebuild(b)

    def rebuild(self, b):
        b.make("libevent_core.la", "libevent_pthreads.la", *KEPT)
        b.run(*b.tool.cc.split(), "-O1", "-g", "-pthread", "-Iinclude", str(self.clients / "ev-loop.c"), "-o", "ev-loop",
              ".libs/libevent_pthreads.a", ".libs/libevent_core.a")


PROGRAM = Libevent
