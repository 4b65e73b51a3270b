"""What the cases share: programs built once, ways to run the tool, and the rules an answer must keep."""
import os
import pathlib
import re
import shutil
import struct
import subprocess
import threading

SECONDS = 900  # ends a hang, nothing else
MAIN = """#include <pthread.h>
#include <stdio.h>
struct box { int level; long total; };
extern struct box shared;
void add(struct box *b, long n);
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *worker(void *a)
{
    for (long i = 0; i < 100; i++) {
        pthread_mutex_lock(&m);
        add(&shared, i);
        pthread_mutex_unlock(&m);
    }
    return a;
}
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    printf("total %ld level %d\\n", shared.total, shared.level);
    return 0;
}
"""
PART = """struct box { int level; long total; };
struct box shared = {3, 0};
void add(struct box *b, long n)
{
    b->total += n;
    if (n == 50)
        b->level++;
}
"""
ANSWER = "total 9900 level 5\n"
ENGINE = ["run", "--detect=none", "--plan=engine", "--"]


class Answer:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __str__(self):
        return f"exit {self.code}, stdout {self.out[:200]!r}, stderr {self.err[:600]!r}"


class Lab:
    def __init__(self, tool, work):
        self.tool, self.work = tool, work
        self.passed = self.failed = self.skipped = 0
        self.lock = threading.Lock()
        self.cache = self.folder("cache")
        self.temp = self.folder("temp")
        self.build()

    def folder(self, *parts):
        path = self.work.joinpath(*parts)
        path.mkdir(parents=True, exist_ok=True)
        return path

    def run(self, *words, cwd=None, **env):
        """The tool with these words. An environment variable set to None is taken away."""
        e = dict(os.environ, XDG_CACHE_HOME=str(self.cache), TMPDIR=str(self.temp), LC_ALL="C.UTF-8")
        for name in [n for n in e if n.startswith("DEADHEAT_")]:
            del e[name]
        for name, value in env.items():
            e.pop(name, None)
            if value is not None:
                e[name] = str(value)
        command = [str(w) for w in words]
        if not command[0].startswith("/"):
            command.insert(0, str(self.tool))
        try:
            p = subprocess.run(command, cwd=cwd or self.work, env=e, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
            return Answer(p.returncode, p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace"))
        except subprocess.TimeoutExpired:
            return Answer(f"none, still running after {SECONDS} s", "", "")

    def build(self):
        for name, text in (("main.c", MAIN), ("part.c", PART)):
            (self.work / name).write_text(text)
            self.must("cc", "-O2", "-c", name)
        self.must("cc", "-O2", "-fPIC", "-shared", "part.c", "-o", "libpart.so")
        self.must("cc", "-O2", "main.o", "part.o", "-pthread", "-o", "good")
        self.must("cc", "-O2", "main.o", "-pthread", "-L.", "-lpart", f"-Wl,-rpath,{self.work}", "-o", "with-library")
        self.good = self.work / "good"
        self.good_bytes = self.good.read_bytes()
        self.sites = self.must("sites", "good").out
        self.info = self.must("info", "good").out

    def must(self, *words):
        a = self.run(*words)
        if a.code != 0:
            raise SystemExit(f"bad-input: {' '.join(map(str, words))}: {a}\nbad-input: 0 passed, 1 failed")
        return a

    def count(self, name, problem):
        with self.lock:
            if problem:
                self.failed += 1
                print(f"FAILED {name}: {problem}", flush=True)
            else:
                self.passed += 1

    def skip(self, name, why):
        with self.lock:
            self.skipped += 1
            print(f"skipped {name}: {why}", flush=True)

    def write(self, name, data, mode=0o755):
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(mode)
        return path


def complaint(a, *mentions, codes=(2, 3)):
    """None when the answer is one line of ours with all these words, a bad exit code of ours and nothing else."""
    lines = a.err.splitlines()
    if a.code not in codes or len(lines) != 1 or not lines[0].startswith("deadheat: ") or a.out:
        return f"wanted one line and exit {codes}: {a}"
    missing = [m for m in mentions if str(m) not in lines[0]]
    return f"the line does not say {missing}: {a}" if missing else None


def build_complaint(a, *mentions, others=r"clang\S*: error: .*linker command failed"):
    """The same for a build, where clang adds its own line about its linker."""
    ours = [l for l in a.err.splitlines() if l.startswith("deadheat: ")]
    rest = [l for l in a.err.splitlines() if l not in ours and not re.match(others, l)]
    if not isinstance(a.code, int) or a.code <= 0 or len(ours) != 1 or rest or a.out:
        return f"wanted a failed build with one line of ours: {a}"
    missing = [m for m in mentions if str(m) not in ours[0]]
    return f"the line does not say {missing}: {a}" if missing else None


def find_section(data, prefix):
    """(place of its header, offset, size) of the first ELF section whose name starts so."""
    table, = struct.unpack_from("<Q", data, 0x28)
    n, names = struct.unpack_from("<HH", data, 0x3C)
    header = lambda i: struct.unpack_from("<IIQQQQ", data, table + 64 * i)
    at = header(names)[4]
    for i in range(n):
        name, _, _, _, offset, size = header(i)
        if data[at + name:data.index(0, at + name)].startswith(prefix.encode()):
            return table + 64 * i, offset, size
    raise KeyError(prefix)


def flipped(data, bit):
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def remove(path):
    path = pathlib.Path(path)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
