"""memcached: its own unit tests, which start the server in child processes."""
from harness.planted import Chained, Job


class Memcached(Chained):
    package = "memcached"
    executables = ("testapp",)
    jobs = (Job("unit tests", ("testapp",)),)

    def configure(self, b):
        b.run("./configure", env={"CFLAGS": "-O1 -g"})

    def build(self, b):
        b.make("memcached-debug", "testapp")


PROGRAM = Memcached
