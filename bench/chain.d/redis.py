"""redis: its own unit tests of data structures, in one process; the server with a thread for input and output and those that free in the background,
and clients in its own process that ask it to end."""
from harness.planted import UNORDERED, WRONG, Chained, Job, Plant, Sight

BIO, NET, MEMORY = "src/bio.c", "src/networking.c", "src/zmalloc.c"
SET_OP = """    io_threads_op = IO_THREADS_OP_WRITE;
    for (int j = 1; j < server.io_threads_num; j++) {
        int count = listLength(io_threads_list[j]);
        setIOPendingCount(j, count);
    }
"""
COUNTED = """#define update_zmalloc_stat_alloc(__n) atomicIncr(used_memory,(__n))
#define update_zmalloc_stat_free(__n) atomicDecr(used_memory,(__n))

static redisAtomic size_t used_memory = 0;
"""


class Redis(Chained):
    package = "redis"
    executables = ("src/redis-server",)
    jobs = (Job("clients", ("src/redis-server", "--port", "0", "--unixsocket", "{tree}/socket", "--save", "", "--daemonize", "no", "--io-threads", "2",
                            "--io-threads-do-reads", "yes", "--lazyfree-lazy-user-del", "yes", "--loglevel", "warning"), 0, (("REDIS_CLIENT", "{tree}/socket"),)),
            Job("unit tests", ("src/redis-server", "test", "zmalloc")))
    plants = (
        Plant("bio-submit", "lock", BIO, "    pthread_mutex_lock(&bio_mutex[type]);\n    listAddNodeTail(bio_jobs[type],job);\n    bio_pending[type]++;\n",
              "    listAddNodeTail(bio_jobs[type],job);\n    pthread_mutex_lock(&bio_mutex[type]);\n    bio_pending[type]++;\n",
              (Sight(UNORDERED + WRONG, functions=("bioSubmitJob",)),)),
        Plant("bio-delete", "lock", BIO, "        pthread_mutex_lock(&bio_mutex[type]);\n        listDelNode(bio_jobs[type],ln);\n",
              "        listDelNode(bio_jobs[type],ln);\n        pthread_mutex_lock(&bio_mutex[type]);\n",
              (Sight(UNORDERED + WRONG, functions=("bioProcessBackgroundJobs", "bioSubmitJob")),)),
        Plant("io-done", "check", NET, "        listEmpty(io_threads_list[id]);\n        setIOPendingCount(id, 0);\n",
              "        setIOPendingCount(id, 0);\n        listEmpty(io_threads_list[id]);\n", (Sight(UNORDERED + WRONG, functions=("IOThreadMain",), variables=("*list*",)),)),
        Plant("io-operation", "signal", NET, SET_OP, SET_OP.replace("    io_threads_op = IO_THREADS_OP_WRITE;\n", "", 1) + "    io_threads_op = IO_THREADS_OP_WRITE;\n",
              (Sight(UNORDERED, variables=("io_threads_op",)), Sight(WRONG, functions=("IOThreadMain",)))),
        Plant("used-memory", "lock", MEMORY, COUNTED, COUNTED.replace("atomicIncr(used_memory,(__n))", "(*(size_t *)&used_memory += (__n))")
              .replace("atomicDecr(used_memory,(__n))", "(*(size_t *)&used_memory -= (__n))"), (Sight(UNORDERED, variables=("used_memory",)),)),
    )
    build_limit = 1800

    def build(self, b):
        b.run(*b.tool.cc.split(), "-O1", "-g", "-pthread", "-c", str(self.clients / "redis-client.c"), "-o", "client.o")
        b.make("MALLOC=libc", "OPTIMIZATION=-O1", "REDIS_CFLAGS=-DREDIS_TEST", f"REDIS_LDFLAGS={b.dir}/client.o", "redis-server", cwd="src")


PROGRAM = Redis
