"""libevent: its own tests of threads, in one process; two threads around one loop."""
from harness.planted import Chained, Job, Plant

LOOP, BUFFER = "event.c", "buffer.c"


class Libevent(Chained):
    package = "libevent"
    executables = ("test/regress",)
    jobs = (Job("conditions", ("test/regress", "--no-fork", "thread/conditions_simple")),
            Job("notify", ("test/regress", "--no-fork", "thread/no_events")),
            Job("hundred threads", ("test/regress", "--no-fork", "thread/basic")))
    plants = (
        Plant("add", "lock", LOOP, "	EVBASE_ACQUIRE_LOCK(ev->ev_base, th_base_lock);\n\n	res = event_add_nolock_(ev, tv, 0);\n\n	EVBASE_RELEASE_LOCK(ev->ev_base, th_base_lock);",
              "	res = event_add_nolock_(ev, tv, 0);\n", job="conditions"),
        Plant("loopexit-flag", "lock", LOOP, "	EVBASE_ACQUIRE_LOCK(event_base, th_base_lock);\n	event_base->event_break = 1;\n", "	event_base->event_break = 1;\n	EVBASE_ACQUIRE_LOCK(event_base, th_base_lock);\n",
              job="notify"),
        Plant("once-list", "lock", LOOP, "	EVBASE_ACQUIRE_LOCK(eonce->ev.ev_base, th_base_lock);\n	LIST_REMOVE(eonce, next_once);\n	EVBASE_RELEASE_LOCK(eonce->ev.ev_base, th_base_lock);\n",
              "	LIST_REMOVE(eonce, next_once);\n", job="notify"),
    )

    def configure(self, b):
        b.run("./configure", "--disable-shared", "--disable-openssl", "--disable-samples", env={"CFLAGS": "-O1 -g"})

    def build(self, b):
        # Debian's patches make its generated files look old; what makes them anew need not be installed.
        kept = [f"{word}=:" for word in ("ACLOCAL", "AUTOMAKE", "AUTOCONF", "AUTOHEADER")]
        b.make("include/event2/event-config.h", *kept)
        b.make("test/regress", *kept)


PROGRAM = Libevent
