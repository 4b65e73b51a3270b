"""memcached: the server with two workers, and a client in its own process that asks it to end."""
from harness.planted import STUCK, UNORDERED, WRONG, Chained, Job, Plant, Sight

THREAD, ITEMS, SLABS, ASSOC, TEXT = "thread.c", "items.c", "slabs.c", "assoc.c", "proto_text.c"


class Memcached(Chained):
    package = "memcached"
    executables = ("memcached-debug",)
    jobs = (Job("client", ("memcached-debug", "-u", "root", "-s", "{tree}/socket", "-A", "-t", "2"), 0, (("MEMCACHED_CLIENT", "{tree}/socket"),)),)
    plants = (
        Plant("queue-push", "lock", THREAD, "    pthread_mutex_lock(&cq->lock);\n    STAILQ_INSERT_TAIL(&cq->head, item, i_next);\n    pthread_mutex_unlock(&cq->lock);\n",
              "    STAILQ_INSERT_TAIL(&cq->head, item, i_next);\n", (Sight(UNORDERED + WRONG, functions=("cq_push",)),)),
        Plant("link-lru", "lock", ITEMS, "    pthread_mutex_lock(&lru_locks[it->slabs_clsid]);\n    do_item_link_q(it);\n    pthread_mutex_unlock(&lru_locks[it->slabs_clsid]);\n",
              "    do_item_link_q(it);\n", (Sight(UNORDERED + WRONG, functions=("item_link_q",)),)),
        Plant("add-delta", "lock", THREAD, "    item_lock(hv);\n    ret = do_add_delta(c, key, nkey, incr, delta, buf, cas, hv, NULL);\n    item_unlock(hv);\n",
              "    ret = do_add_delta(c, key, nkey, incr, delta, buf, cas, hv, NULL);\n", (Sight(UNORDERED + WRONG, functions=("add_delta",)),)),
        Plant("slabs-alloc", "lock", SLABS, "    pthread_mutex_lock(&slabs_lock);\n    ret = do_slabs_alloc(size, id, flags);\n    pthread_mutex_unlock(&slabs_lock);\n",
              "    ret = do_slabs_alloc(size, id, flags);\n", (Sight(UNORDERED + WRONG, functions=("slabs_alloc",)),)),
        Plant("set-stats", "lock", TEXT, "    pthread_mutex_lock(&c->thread->stats.mutex);\n    c->thread->stats.slab_stats[ITEM_clsid(it)].set_cmds++;\n"
              "    pthread_mutex_unlock(&c->thread->stats.mutex);\n", "    c->thread->stats.slab_stats[ITEM_clsid(it)].set_cmds++;\n",
              (Sight(UNORDERED, variables=("*set_cmds",)), Sight(UNORDERED, functions=("complete_nread_ascii", "threadlocal_stats_aggregate")))),
        Plant("assoc-stop", "signal", ASSOC, "    mutex_lock(&maintenance_lock);\n    do_run_maintenance_thread = 0;\n    pthread_cond_signal(&maintenance_cond);\n"
              "    mutex_unlock(&maintenance_lock);\n", "    pthread_cond_signal(&maintenance_cond);\n    mutex_lock(&maintenance_lock);\n"
              "    do_run_maintenance_thread = 0;\n    mutex_unlock(&maintenance_lock);\n",
              (Sight(STUCK, functions=("assoc_maintenance_thread",)), Sight(WRONG, functions=("assoc_maintenance_thread",)))),
    )

    def configure(self, b):
        b.run("./configure", env={"CFLAGS": "-O1 -g"})

    def build(self, b):
        b.run(*b.tool.cc.split(), "-O1", "-g", "-pthread", "-c", str(self.clients / "memcached-client.c"), "-o", "client.o")
        # Without the coverage that this target asks for, whose counters are shared by all threads.
        b.make("memcached-debug", f"LDFLAGS={b.dir}/client.o", "memcached_debug_CFLAGS=-DMEMCACHED_DEBUG")


PROGRAM = Memcached
