"""redis: its own unit tests of data structures, in one process."""
from harness.planted import Chained, Job


class Redis(Chained):
    package = "redis"
    executables = ("src/redis-server",)
    jobs = (Job("unit tests", ("src/redis-server", "test", "zmalloc")),)
    build_limit = 1800

    def build(self, b):
        b.make("MALLOC=libc", "OPTIMIZATION=-O1", "REDIS_CFLAGS=-DREDIS_TEST", "redis-server", cwd="src")


PROGRAM = Redis
