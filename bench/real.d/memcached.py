"""memcached: autoconf; two clients set, get, count and delete over loopback. Load: memcaslap."""
import os
import re
import resource
import signal
import socket
import threading

from harness.proc import Failure, free_port
from harness.program import Load, Program

KEYS = 3000  # for each of two clients
CONNECTIONS = 1024  # its default; it makes this its limit of open files


class Client:
    def __init__(self, port):
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.file = self.sock.makefile("rb")

    def ask(self, request):
        self.sock.sendall(request)
        return self.file.readline().rstrip(b"\r\n")

    def expect(self, request, answer):
        got = self.ask(request)
        if got != answer:
            raise Failure(f"memcached: {request[:40]!r} answered {got[:40]!r}")

    def get(self, keys):
        self.sock.sendall(b"get " + b" ".join(keys) + b"\r\n")
        found = {}
        while (line := self.file.readline().split()) and line[0] == b"VALUE":
            found[line[1]] = self.file.read(int(line[3]) + 2)[:-2]
        return found

    def stats(self):
        self.sock.sendall(b"stats\r\n")
        found = {}
        while (line := self.file.readline().split()) and line[0] == b"STAT":
            found[line[1].decode()] = line[2].decode()
        return found


def value_of(client, n):
    return (b"%d/%d-" % (client, n)) * (1 + n * 7 % 300)


def use(port, client):
    c = Client(port)
    for n in range(KEYS):
        value = value_of(client, n)
        c.expect(b"set k%d-%d 0 0 %d\r\n%s\r\n" % (client, n, len(value), value), b"STORED")
    for first in range(0, KEYS, 50):
        wanted = {b"k%d-%d" % (client, n): value_of(client, n) for n in range(first, min(first + 50, KEYS))}
        if c.get(list(wanted)) != wanted:
            raise Failure("memcached: a value read is not the value written")
    for n in range(0, KEYS, 3):
        c.expect(b"delete k%d-%d\r\n" % (client, n), b"DELETED")
    for _ in range(1000):
        c.ask(b"incr shared 1\r\n")


class Memcached(Program):
    package = "memcached"
    drive_limit = 150
    executables = ("memcached",)

    def configure(self, b):
        b.run("./configure")

    def build(self, b):
        b.make()

    def _start(self, r, port, user="nobody"):
        # It refuses to serve as root unless told to.
        user = ("-u", user) if os.geteuid() == 0 else ()
        return r.start("memcached", "-l", "127.0.0.1", "-p", port, "-U", 0, "-t", 2, "-m", 64, *user, port=port)

    def _use_twice(self, port):
        failures = []

        def client(n):
            try:
                use(port, n)
            except (Failure, OSError) as e:
                failures.append(e)
        threads = [threading.Thread(target=client, args=(n,)) for n in range(2)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        if failures:
            raise Failure(str(failures[0]))

    def _session(self, r):
        """(counters, CPU seconds of the server)"""
        port = free_port()
        server = self._start(r, port)
        try:
            admin = Client(port)
            admin.expect(b"set shared 0 0 1\r\n0\r\n", b"STORED")
            self._use_twice(port)
            stats = admin.stats()
            seen = {k: stats.get(k) for k in ("threads", "curr_items", "cmd_set", "get_hits", "get_misses", "delete_hits")}
            seen["shared"] = admin.get([b"shared"])[b"shared"].strip().decode()
            server.signal(signal.SIGTERM)
            return seen, r.stop(server)
        finally:
            server.end()

    def drive(self, r):
        return self._session(r)[0]

    def costs(self):
        return (("-t 2", lambda r: self._session(r)[1]),)

    def _slapped(self, r, operations):
        port = free_port()
        # Valgrind lets a program set its limit to what the limit is, and to nothing else.
        resource.setrlimit(resource.RLIMIT_NOFILE, (CONNECTIONS, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        server = self._start(r, port, user="root")  # the tools have to write their reports
        try:
            said = r.load(server, "memcaslap", "-s", f"127.0.0.1:{port}", "-T", 2, "-c", 16, "-x", operations, "-w", "1k", "-X", 100, "-v", 0.1)
            counts = {name: int(n) for name, n in re.findall(r"^(\w+): (\d+)$", said, re.M)}
            done = re.search(r"Ops: (\d+) TPS: (\d+)", said)
            served = Client(port).stats()
            if not done or int(served["cmd_get"]) + int(served["cmd_set"]) < int(done.group(1)):
                raise Failure(f"memcached: served {served['cmd_get']} gets and {served['cmd_set']} sets of {operations} ({r.out})")
            if counts.get("get_misses") or counts.get("verify_failed"):
                raise Failure(f"memcached: {counts.get('get_misses')} misses, {counts.get('verify_failed')} wrong values")
            server.signal(signal.SIGTERM)
            r.stop(server)
            return float(done.group(2)), None
        finally:
            server.end()

    def loads(self):
        return (Load("9 gets, 1 set", "op/s", 200000, 1600, self._slapped),)


PROGRAM = Memcached
