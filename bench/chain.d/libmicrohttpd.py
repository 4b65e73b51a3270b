"""libmicrohttpd: its own tests start and stop a server whose threads poll sockets, and shut it down under a client; a client hands connections to a
server that runs meanwhile."""
from harness.planted import UNORDERED, WRONG, Chained, Job, Plant, Sight

DAEMON = "src/microhttpd/daemon.c"
TAKE = """  MHD_mutex_lock_chk_ (&daemon->new_connections_mutex);
  mhd_assert (NULL != daemon->new_connections_head);
  local_head = daemon->new_connections_head;
  local_tail = daemon->new_connections_tail;
"""
# Not have_new and shutdown, which are read without a lock before anything is planted.
LIST = (Sight(UNORDERED + WRONG, variables=("*new_connections_*", "*MHD_Connection.next", "*MHD_Connection.prev")),)


class Libmicrohttpd(Chained):
    package = "libmicrohttpd"
    executables = ("src/microhttpd/test_start_stop", "mhd-add")
    jobs = (Job("start and stop", ("src/microhttpd/test_start_stop",)),
            Job("shutdown", ("src/microhttpd/test_shutdown_poll",)),
            Job("upgrade", ("src/microhttpd/test_upgrade",)),
            Job("add", ("mhd-add",)))
    plants = (
        Plant("stop-join", "join", DAEMON, "      if (! MHD_join_thread_ (daemon->pid.handle))\n", "      if (0 != pthread_detach (daemon->pid.handle))\n",
              (Sight(("use-after-free", *WRONG), functions=("MHD_stop_daemon",)),), job="add"),
        Plant("new-connection", "lock", DAEMON, "    MHD_mutex_lock_chk_ (&daemon->new_connections_mutex);\n    DLL_insert (daemon->new_connections_head,\n"
              "                daemon->new_connections_tail,\n                connection);\n    daemon->have_new = true;\n    MHD_mutex_unlock_chk_ (&daemon->new_connections_mutex);\n",
              "    DLL_insert (daemon->new_connections_head,\n                daemon->new_connections_tail,\n                connection);\n    daemon->have_new = true;\n",
              LIST, job="add"),
        Plant("take-new", "lock", DAEMON, TAKE, TAKE.partition("\n")[2] + TAKE.partition("\n")[0] + "\n", LIST, job="add"),
    )

    def configure(self, b):
        b.run("./configure", "--disable-shared", "--disable-https", "--disable-curl", "--disable-doc", "--disable-examples", "--disable-tools",
              env={"CFLAGS": "-O1 -g"})

    def build(self, b):
        b.make("-C", "src/microhttpd", "libmicrohttpd.la")  # its tests name it by another path, for which there is no rule
        b.make("-C", "src/microhttpd", "test_start_stop", "test_shutdown_poll", "test_upgrade")
        self.rebuild(b)

    def rebuild(self, b):
        b.make("-C", "src/microhttpd", "libmicrohttpd.la")
        b.run(*b.tool.cc.split(), "-O1", "-g", "-pthread", "-Isrc/include", str(self.clients / "mhd-add.c"), "-o", "mhd-add",
              "src/microhttpd/.libs/libmicrohttpd.a")


PROGRAM = Libmicrohttpd
