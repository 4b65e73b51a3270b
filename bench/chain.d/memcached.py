"""memcached: the server with two workers, and a client in its own process that asks it to end."""
from harness.planted import Chained, Job


class Memcached(Chained):
    package = "memcached"
    executables = ("memcached-debug",)
    jobs = (Job("client", ("memcached-debug", "-u", "root", "-s", "{tree}/socket", "-A", "-t", "2"), 0, (("MEMCACHED_CLIENT", "{tree}/socket"),)),)

    def configure(self, b):
        b.run("./configure", env={"CFLAGS": "-O1 -g"})

    def build(self, b):
        b.run(*b.tool.cc.split(), "-O1", "-g", "-pthread", "-c", str(self.clients / "memcached-client.c"), "-o", "client.o")
        b.make("memcached-debug", f"LDFLAGS={b.dir}/client.o")


PROGRAM = Memcached
