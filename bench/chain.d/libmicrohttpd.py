"""libmicrohttpd: its own tests start and stop a server whose threads poll sockets, and shut it down under a client."""
from harness.planted import Chained, Job, Plant

DAEMON = "src/microhttpd/daemon.c"


class Libmicrohttpd(Chained):
    package = "libmicrohttpd"
    executables = ("src/microhttpd/test_start_stop",)
    jobs = (Job("start and stop", ("src/microhttpd/test_start_stop",)),
            Job("shutdown", ("src/microhttpd/test_shutdown_poll",)),
            Job("upgrade", ("src/microhttpd/test_upgrade",)))
    plants = (
        Plant("stop-join", "join", DAEMON, "      if (! MHD_join_thread_ (daemon->pid.handle))\n", "      if (0 != pthread_detach (daemon->pid.handle))\n"),
        Plant("new-connection", "lock", DAEMON, "    MHD_mutex_lock_chk_ (&daemon->new_connections_mutex);\n", "    if (0) MHD_mutex_lock_chk_ (&daemon->new_connections_mutex);\n",
              job="upgrade"),
    )

    def configure(self, b):
        b.run("./configure", "--disable-shared", "--disable-https", "--disable-curl", "--disable-doc", "--disable-examples", "--disable-tools",
              env={"CFLAGS": "-O1 -g"})

    def build(self, b):
        b.make("-C", "src/microhttpd", "libmicrohttpd.la")  # its tests name it by another path, for which there is no rule
        b.make("-C", "src/microhttpd", "test_start_stop", "test_shutdown_poll", "test_upgrade")


PROGRAM = Libmicrohttpd
