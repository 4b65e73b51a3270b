"""No disk space, in turn for temporary files, the output and the cache: no half-written file, one clear line."""
import re
import subprocess

from lab import ANSWER, ENGINE, complaint

KILOBYTES = (4, 16, 32, 64, 128, 256, 512)
NO_SPACE = r"No space left on device"


def mount(folder, kilobytes, *options):
    return subprocess.run(["mount", "-t", "tmpfs", "-o", ",".join((f"size={kilobytes}k", "mode=0755", *options)), "none",
                           folder], capture_output=True).returncode == 0


def unmount(folder):
    subprocess.run(["umount", folder], capture_output=True)


def may_mount(lab):
    folder = lab.folder("mount")
    ok = mount(folder, 4)
    if ok:
        unmount(folder)
    return ok


def each_size(lab, what, fn):
    if not may_mount(lab):
        lab.skip(what, "mounting is not permitted")
        return
    failures = 0
    for kilobytes in KILOBYTES:
        folder = lab.folder("small", f"{what} {kilobytes}")
        mount(folder, kilobytes)
        try:
            problem, failed = fn(folder)
            failures += failed
        finally:
            unmount(folder)
        lab.count(f"{what} in {kilobytes} KiB", problem)
    lab.count(f"{what}: the sizes were small enough to matter", None if failures else "nothing failed")


def out_of_space(a, clangs_own=False):
    """A build may add what clang and the linker say themselves; somebody must say that the disk is full."""
    ours = [l for l in a.err.splitlines() if l.startswith("deadheat: ")]
    strange = [l for l in a.err.splitlines()
               if l not in ours and not re.match(r"(clang|ld\.lld|fatal error: error in backend: IO|error: )|LLVM ERROR: IO", l)]
    if not isinstance(a.code, int) or a.code <= 0 or len(ours) > 1 or (strange and not clangs_own) or not re.search(NO_SPACE, a.err, re.I):
        return f"wanted to hear of no space: {a}"
    return None


def damaged(output):
    """clang removes the output of a failed link; what must not be is a changed one."""
    return "the output is damaged" if output.exists() and output.read_bytes() != b"older\n" else None


def check_temp(lab):
    old = lab.work / "built-with-small-temp"

    def build(folder):
        old.write_bytes(b"older\n")
        a = lab.run("cc", "-pthread", "main.o", "part.o", "-o", old.name, TMPDIR=folder)
        if a.code == 0:
            return (None if lab.run(old).out == ANSWER else f"a broken program: {a}"), False
        left = [p.name for p in folder.iterdir()]
        strays = [p.name for p in lab.work.glob(f"{old.name}.*")]
        return out_of_space(a) or damaged(old) or \
            ((left or strays) and f"left behind: {left + strays}") or None, True

    def derive(folder):
        a = lab.run(*ENGINE, "./good", TMPDIR=folder, XDG_CACHE_HOME=lab.folder("cache of", folder.name))
        if a.code == 0:
            return (None if a.out == ANSWER else f"wrong: {a}"), False
        left = [p.name for p in folder.iterdir()]
        return (out_of_space(a) or (a.code not in (2, 3) and f"exit {a.code}") or (left and f"left behind: {left}") or None), True

    each_size(lab, "link with TMPDIR", build)
    each_size(lab, "run with TMPDIR", derive)


def check_output(lab):
    def build(older):
        def fn(folder):
            out = folder / "program"
            if older:
                out.write_bytes(b"older\n")
            a = lab.run("cc", "-pthread", "main.o", "part.o", "-o", out)
            if a.code == 0:
                return (None if lab.run(out).out == ANSWER else f"a broken program: {a}"), False
            left = sorted(p.name for p in folder.iterdir())
            return out_of_space(a) or damaged(out) or \
                ((left not in ([], ["program"])) and f"left behind: {left}") or None, True
        return fn

    each_size(lab, "output folder", build(False))
    each_size(lab, "output folder with an older program", build(True))

    def objects(folder):
        a = lab.run("cc", "-c", "main.c", "-o", folder / "main.o")
        if a.code == 0:
            return None, False
        # clang alone writes this one, and answers with a long text when it cannot.
        return out_of_space(a, clangs_own=True) or ((folder / "main.o").exists() and "half an object is left") or None, True

    each_size(lab, "object folder", objects)


def check_cache(lab):
    def derive(folder):
        a = lab.run(*ENGINE, "./good", XDG_CACHE_HOME=folder)
        if a.code == 0:
            return (None if a.out == ANSWER else f"wrong: {a}"), False
        left = [str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()]
        return out_of_space(a) or (a.code not in (2, 3) and f"exit {a.code}") or (left and f"left behind: {left}") or None, True

    each_size(lab, "cache", derive)


def check_read_only(lab):
    if not may_mount(lab):
        lab.skip("read-only folders", "mounting is not permitted")
        return
    folder = lab.folder("read-only")
    mount(folder, 64, "ro")
    try:
        a = lab.run(*ENGINE, "./good", XDG_CACHE_HOME=folder)
        lab.count("cache on a read-only disk", complaint(a, str(folder), "XDG_CACHE_HOME"))
        a = lab.run(*ENGINE, "./good", TMPDIR=folder, XDG_CACHE_HOME=lab.folder("cache of read-only"))
        lab.count("TMPDIR on a read-only disk", complaint(a, str(folder), "TMPDIR"))
        a = lab.run("info", "good", XDG_CACHE_HOME=folder)
        lab.count("info needs no cache", None if a.code == 0 and a.out == lab.info else str(a))
    finally:
        unmount(folder)


CASES = [check_temp, check_output, check_cache, check_read_only]
