#!/usr/bin/env python3
"""memcached-mix.py PORT [SECONDS]: six clients store, change, read and drop the same 400 keys over short connections, one
goes through the administrative commands again and again, one watches the log. For findings, not for throughput."""
import random
import socket
import sys
import threading
import time

KEYS, COMMANDS_EACH = 400, 60
SIZES = (10, 100, 1000, 9000, 60000)
ADMINISTRATION = (b"stats", b"stats items", b"stats slabs", b"stats settings", b"stats conns", b"stats sizes", b"lru_crawler crawl all",
                  b"slabs reassign 1 2", b"lru mode segmented", b"flush_all 1", b"verbosity 1", b"stats reset", b"slabs automove 1",
                  b"lru_crawler metadump all", b"lru tune 10 25 0.1 2.0", b"cache_memlimit 65", b"flush_all")


class Client:
    def __init__(self, port):
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.file = self.sock.makefile("rb")

    def line(self, request):
        self.sock.sendall(request + b"\r\n")
        return self.file.readline()

    def store(self, verb, key, value, expires=0):
        self.line(b"%s %s 0 %d %d\r\n%s" % (verb, key, expires, len(value), value))

    def get(self, key):
        line = self.line(b"gets %s k1 k2" % key).split()
        while line and line[0] == b"VALUE":
            self.file.read(int(line[3]) + 2)
            line = self.file.readline().split()


def mix(c, r):
    key, value = b"k%d" % r.randrange(KEYS), b"x" * r.choice(SIZES)
    actions = [lambda: c.store(b"set", key, value, r.choice((0, 0, 1, 2)))] * 3 + [lambda: c.get(key)] * 3 + [
        lambda: c.store(b"add", key, value),
        lambda: c.store(b"append", key, b"abc"),
        lambda: c.line(b"delete " + key),
        lambda: c.line(b"touch %s 5" % key),
        lambda: (c.store(b"set", b"n", b"1"), c.line(b"incr n 1"))]
    r.choice(actions)()


def worker(port, end, seed):
    r = random.Random(seed)
    while time.time() < end:
        c = Client(port)
        for _ in range(r.randrange(1, COMMANDS_EACH)):
            mix(c, r)
        c.line(b"mg k%d t v" % r.randrange(KEYS))  # the answer is left unread
        c.sock.close()


def administrator(port, end):
    while time.time() < end:
        for command in ADMINISTRATION:
            c = Client(port)
            c.sock.settimeout(2)
            try:
                c.sock.sendall(command + b"\r\n")
                time.sleep(0.15)
                c.sock.recv(1 << 20)
            except OSError:
                pass  # some of them are refused while another one runs
            c.sock.close()


def watcher(port, end):
    c = Client(port)
    c.sock.settimeout(1)
    c.sock.sendall(b"watch fetchers mutations evictions connevents\r\n")
    while time.time() < end:
        try:
            c.sock.recv(1 << 16)
        except OSError:
            pass


def main():
    port, end = int(sys.argv[1]), time.time() + float(sys.argv[2] if len(sys.argv) > 2 else 25)
    threads = [threading.Thread(target=worker, args=(port, end, n)) for n in range(6)]
    threads += [threading.Thread(target=f, args=(port, end)) for f in (administrator, watcher)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


if __name__ == "__main__":
    main()
