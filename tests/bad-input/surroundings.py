"""What deadheat needs around it is missing, belongs to others, or changes under its feet."""
import concurrent.futures
import os
import shutil
import subprocess
import time

from lab import ANSWER, ENGINE, build_complaint, complaint


def fresh_cache(lab, name):
    shutil.rmtree(lab.work / "caches" / name, ignore_errors=True)
    return lab.folder("caches", name)


def check_no_tools(lab):
    bare = lab.folder("bare-path")
    for variable, name in (("DEADHEAT_CLANG", "clang-19"), ("DEADHEAT_LLD", "ld.lld-19")):
        cache = fresh_cache(lab, name)
        for env, says in (({variable: "/nonexistent/tool"}, ("/nonexistent/tool", variable)), ({"PATH": bare}, ("not found", "install"))):
            a = lab.run(*ENGINE, lab.good, XDG_CACHE_HOME=cache, **env)
            lab.count(f"run without {name} {list(env)}", complaint(a, *says))
    a = lab.run("cc", "-c", "main.c", "-o", "none.o", DEADHEAT_CLANG="/nonexistent/tool")
    lab.count("compile without clang", complaint(a, "/nonexistent/tool", "DEADHEAT_CLANG"))
    a = lab.run("cc", "-c", "main.c", "-o", "none.o", PATH=bare)
    lab.count("compile, clang not on PATH", complaint(a, "clang-19", "install"))
    a = lab.run("c++", "-c", "main.c", "-o", "none.o", DEADHEAT_CLANGXX="/nonexistent/tool")
    lab.count("compile without clang++", complaint(a, "/nonexistent/tool", "DEADHEAT_CLANGXX"))
    a = lab.run("cc", "main.o", "part.o", "-o", "none", DEADHEAT_LLD="/nonexistent/tool")
    lab.count("link without lld", build_complaint(a, "/nonexistent/tool", "DEADHEAT_LLD"))
    lab.count("nothing was written", "there is output" if any(lab.work.glob("none*")) else None)
    a = lab.run(*ENGINE, lab.good, XDG_CACHE_HOME=fresh_cache(lab, "false"), DEADHEAT_CLANG="/bin/false")
    lab.count("a clang that fails", complaint(a, "clang", "exit code 1"))


def check_cache_folder(lab):
    cache = lab.write("a-file", b"")
    lab.count("the cache is a file", complaint(lab.run(*ENGINE, "./good", XDG_CACHE_HOME=cache), cache))
    if os.geteuid() != 0:
        lab.skip("cache of another user", "needs root")
        return
    cache = fresh_cache(lab, "foreign")
    try:
        for folder in (lab.folder("caches", "foreign", "deadheat"), lab.folder("caches", "foreign", "deadheat", "v1")):
            os.chown(folder, 65534, 65534)
    except OSError:
        lab.skip("cache of another user", "chown is not permitted")
        return
    a = lab.run(*ENGINE, "./good", XDG_CACHE_HOME=cache)
    lab.count("cache of another user", complaint(a, "another user", "XDG_CACHE_HOME"))


def check_cut_variant(lab):
    """A cached variant that lost its bytes is no reason to run half a program."""
    cache = fresh_cache(lab, "cut")
    lab.run(*ENGINE, "./good", XDG_CACHE_HOME=cache)
    (variant,) = cache.glob("deadheat/v1/*-engine-*/good")
    for size in (0, 100, variant.stat().st_size // 2):
        os.truncate(variant, size)
        a = lab.run(*ENGINE, "./good", XDG_CACHE_HOME=cache)
        lab.count(f"cached variant cut to {size}", None if (a.code, a.out) == (0, ANSWER) else complaint(a, variant))


def check_missing_parts(lab):
    stage = lab.tool.resolve().parent.parent
    for part in ("deadheat_rt.o", "deadheat_dso.o", "inline.bc", "exports.list", "deadheat-ld"):
        copy = lab.work / "stage without" / part
        shutil.copytree(stage, copy, symlinks=True)
        (copy / "lib" / "deadheat" / part).unlink()
        tool = copy / "bin" / "deadheat"
        out = lab.work / f"none-{part}"
        kind = ["-shared", "-fPIC", "part.c"] if part == "deadheat_dso.o" else ["main.o", "part.o"]
        a = lab.run(tool, "cc", "-O2", *kind, "-pthread", "-o", out)
        lab.count(f"link without {part}", build_complaint(a, part, "reinstall") or (out.exists() and "there is output") or None)
        if part != "deadheat-ld":
            a = lab.run(tool, *ENGINE, lab.good, XDG_CACHE_HOME=fresh_cache(lab, part))
            lab.count(f"run without {part}", complaint(a, part, "reinstall"))
        shutil.rmtree(copy)
    copy = lab.work / "stage with a broken inline.bc"
    shutil.copytree(stage, copy, symlinks=True)
    (copy / "lib/deadheat/inline.bc").write_bytes(b"BC\xc0\xde nothing")
    a = lab.run(copy / "bin/deadheat", *ENGINE, lab.good, XDG_CACHE_HOME=fresh_cache(lab, "broken"))
    lab.count("run with a broken inline.bc", complaint(a, "inline.bc"))


def check_library_gone(lab):
    away = lab.folder("moved")
    shutil.copy(lab.work / "libpart.so", away)
    a = lab.run("cc", "-O2", "main.o", "-pthread", away / "libpart.so", "-o", "needs-moved")
    (away / "libpart.so").unlink()
    a = lab.run(*ENGINE, "./needs-moved", XDG_CACHE_HOME=fresh_cache(lab, "gone"))
    lab.count("library gone before deriving", complaint(a, "libpart.so"))
    a = lab.run("info", "needs-moved")
    lab.count("info tells", None if a.code == 0 and "not found" in a.out and not a.err else str(a))
    shutil.copy(lab.work / "libpart.so", away)
    a = lab.run(*ENGINE, "./needs-moved", XDG_CACHE_HOME=lab.work / "caches/gone")
    lab.count("library back", None if (a.code, a.out) == (0, ANSWER) else str(a))


def check_at_once(lab):
    cache = fresh_cache(lab, "at-once")
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: lab.run(*ENGINE, "./good", XDG_CACHE_HOME=cache), range(4)))
    for i, a in enumerate(answers):
        lab.count(f"four at once, {i}", None if (a.code, a.out, a.err) == (0, ANSWER, "") else str(a))
    entries = sorted(p.name for p in (cache / "deadheat/v1").iterdir())
    lab.count("one entry for four runs", None if len(entries) == 1 else f"{entries}")


def check_killed(lab):
    """kill -9 at several moments of deriving; the next run finds nothing half done and cleans up."""
    cache, temp = fresh_cache(lab, "killed"), lab.folder("killed-temp")
    env = dict(os.environ, XDG_CACHE_HOME=str(cache), TMPDIR=str(temp))
    for wait in (0.02, 0.05, 0.1, 0.15, 0.2):
        p = subprocess.Popen([lab.tool, *ENGINE, "./good"], cwd=lab.work, env=env, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
        time.sleep(wait)
        p.kill()
        p.wait()
        a = lab.run(*ENGINE, "./good", XDG_CACHE_HOME=cache)
        lab.count(f"killed after {wait} s, then again", None if (a.code, a.out, a.err) == (0, ANSWER, "") else str(a))
        left = [e.name for e in (cache / "deadheat/v1").iterdir() if ".new-" in e.name]
        lab.count(f"killed after {wait} s, nothing stays in the cache", f"{left}" if left else None)
        shutil.rmtree(cache / "deadheat")


CASES = [check_no_tools, check_cache_folder, check_cut_variant, check_missing_parts, check_library_gone, check_at_once,
         check_killed]
