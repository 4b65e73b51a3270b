"""redis: plain Makefiles, libc's malloc; a server with two I/O threads answers redis-cli and redis-benchmark, saves, ends and comes back.
Load: Debian's redis-benchmark."""
import re
import signal
import time

from harness import config
from harness.proc import Failure, free_port, run
from harness.program import Load, Program

SERVER, CLI, LOAD = "src/redis-server", "src/redis-cli", "src/redis-benchmark"

# Each answer must be the plain build's.
SCRIPT = """
SET greeting hello
APPEND greeting world
GET greeting
INCRBY number 41
INCR number
LPUSH list a b c d
LRANGE list 0 -1
HSET hash f1 v1 f2 v2
HGETALL hash
SADD set 3 1 2
SORT set
ZADD scores 3 c 1 a 2 b
ZRANGE scores 0 -1 WITHSCORES
XADD stream 1-1 field value
XRANGE stream - +
PFADD log a b c d e
PFCOUNT log
SETBIT bits 7 1
BITCOUNT bits
GEOADD places 13.361389 38.115556 Palermo 15.087269 37.502669 Catania
GEODIST places Palermo Catania
EVAL "local s=0 for i=1,1000 do s=s+i end redis.call('SET','lua',s) return redis.call('GET','lua')" 0
MULTI
INCR number
EXEC
OBJECT ENCODING list
CONFIG GET io-threads
DEBUG DIGEST
"""


class Redis(Program):
    package = "redis"
    executables = (SERVER, CLI, LOAD)

    def build(self, b):
        b.make("MALLOC=libc", f"CC={b.tool.cc}")

    def configuration(self, b):
        """No configure; the Makefile probes and keeps what it found in .make-settings."""
        found = {}
        for line in (b.dir / "src/.make-settings").read_text().splitlines():
            key, _, value = line.partition("=")
            value = value.replace("-Wno-c11-extensions ", "")  # there when the compiler's name has "clang" in it
            found[key] = config.neutral(value, b.placeholders())
        return found

    def _start(self, r, port, threads):
        return r.start(SERVER, "--port", port, "--bind", "127.0.0.1", "--io-threads", threads, "--io-threads-do-reads", "yes", "--dir",
                       r.scratch, "--save", "", "--appendonly", "no", "--daemonize", "no", "--enable-debug-command", "yes",
                       "--logfile", r.scratch / "server.log", port=port)

    def _ask(self, r, port, *words):
        return r.output(CLI, "-p", port, *words, limit=60).strip()

    def _load(self, r, port):
        """The plain build's client, so that only the server differs."""
        argv = [r.plain(LOAD), "-h", "127.0.0.1", "-p", port, "-q", "-n", 60000, "-P", 16, "-r", 1000, "-t", "set,get,lpush,hset,mset"]
        run(argv, cwd=r.scratch, env=r.env, log=r.out, limit=self.drive_limit)

    def _session(self, r, port):
        script = r.scratch / "script"
        script.write_text(SCRIPT.lstrip())
        seen = {"answers": r.output(CLI, "-p", port, stdin=script, limit=60)}
        r.run(LOAD, "-h", "127.0.0.1", "-p", port, "-q", "-n", 5000, "-c", 50, "-P", 4, "--threads", 2, "-t", "set,get,lpush,hset", limit=200)
        self._ask(r, port, "FLUSHALL")
        self._ask(r, port, "DEBUG", "POPULATE", "20000", "key", "64")
        seen["background save"] = self._ask(r, port, "BGREWRITEAOF")
        self._ask(r, port, "CONFIG", "SET", "appendonly", "yes")
        self._wait_for_children(r, port)
        seen["keys"] = self._ask(r, port, "DBSIZE")
        seen["digest"] = self._ask(r, port, "DEBUG", "DIGEST")
        threaded = re.search(r"io_threaded_reads_processed:(\d+)", self._ask(r, port, "INFO", "stats"))
        if not threaded or int(threaded.group(1)) == 0:
            raise Failure("redis: the I/O threads had nothing to do")
        return seen

    def _wait_for_children(self, r, port):
        """The server refuses to end while it writes its first append-only file."""
        for _ in range(120):
            state = self._ask(r, port, "INFO", "persistence")
            if not re.search(r"aof_rewrite_(in_progress|scheduled):1|rdb_bgsave_in_progress:1", state):
                return
            time.sleep(0.5)
        raise Failure("redis: its background save does not end")

    def _shut_down(self, r, port, server, how):
        r.run(CLI, "-p", port, "SHUTDOWN", *how, limit=60, check=False)
        return r.stop(server, limit=60)

    def _served(self, r, work, how, threads=2):
        """Starts a server, works with it, ends it; (answer of work, CPU seconds of the server)"""
        port = free_port()
        server = self._start(r, port, threads)
        try:
            answer = work(port)
            return answer, self._shut_down(r, port, server, how)
        finally:
            server.end()

    def drive(self, r):
        seen, _ = self._served(r, lambda port: self._session(r, port), ("SAVE",))
        back, _ = self._served(r, lambda port: self._ask(r, port, "DEBUG", "DIGEST"), ("NOSAVE",))
        if back != seen["digest"]:
            raise Failure("redis: other data after a restart")
        return seen

    def costs(self):
        """I/O threads spin while they wait, so a server without them tells more about the hooks."""
        def loaded(threads):
            return lambda r: self._served(r, lambda port: self._load(r, port), ("NOSAVE",), threads)[1]
        return (("server", loaded(1)), ("server, io-threads 2", loaded(2)))

    def _benchmarked(self, r, requests, threads):
        """Half of the requests set, then half get what was set."""
        port = free_port()
        server = self._start(r, port, threads)
        try:
            said = r.load(server, "redis-benchmark", "-h", "127.0.0.1", "-p", port, "-q", "-n", requests // 2, "-c", 50, "-P", 16, "-r", 10000,
                          "-d", 100, "-t", "set,get")
            rates = [float(x) for x in re.findall(r"[SG]ET: ([\d.]+) requests per second", said)]
            stats = dict(re.findall(r"^(\w+):(\d+)", r.load(server, "redis-cli", "-h", "127.0.0.1", "-p", port, "INFO", "stats"), re.M))
            if len(rates) != 2 or int(stats["total_commands_processed"]) < requests or int(stats["total_error_replies"]):
                raise Failure(f"redis: {stats['total_commands_processed']} of {requests} requests, {stats['total_error_replies']} errors ({r.out})")
            if threads > 1 and not int(stats["io_threaded_reads_processed"]):
                raise Failure("redis: the I/O threads had nothing to do")
            server.signal(signal.SIGTERM)
            r.stop(server, limit=60)
            return len(rates) / sum(1 / x for x in rates), None
        finally:
            server.end()

    def loads(self):
        return (Load("one thread", "op/s", 400000, 6000, lambda r, n: self._benchmarked(r, n, 1)),
                Load("I/O threads", "op/s", 200000, 6000, lambda r, n: self._benchmarked(r, n, 2)))


PROGRAM = Redis
