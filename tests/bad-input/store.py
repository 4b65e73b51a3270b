"""The store of findings: damaged, closed, full, held or written by several at once. Nothing that was stored is lost."""
import json
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import time

from lab import complaint
from space import may_mount, mount, unmount

RACY = """#include <pthread.h>
int counter;
static void *writer(void *a) { counter = 1; return a; }
int main(int argc, char **argv)
{
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    counter = argc;
    pthread_join(t, 0);
    return counter > 99 && argv[0] ? 6 : 5;
}
"""
FOUND = 66


def prepare(lab):
    """A folder with a racy program and a store that holds its finding, made once for all cases."""
    with lab.lock:
        if not getattr(lab, "racy", None):
            lab.racy = lab.write("racy.c", RACY.encode(), 0o644).with_suffix("")
            lab.must("cc", "-O1", "-pthread", "racy.c", "-o", lab.racy)
            a = lab.run("run", f"--db={lab.work}/good.db", "--", lab.racy)
            assert a.code == FOUND, a
    return lab.work / "good.db"


def store(lab, name):
    path = lab.folder("stores", name) / "f.db"
    shutil.copy(prepare(lab), path)
    return path


def findings(lab, db):
    """(problem, runs of the one finding)."""
    a = lab.run("report", f"--db={db}", "--format=json")
    try:
        (one,) = json.loads(a.out)["findings"]
        return (None if a.code == 0 else str(a)), one["runs"]
    except (ValueError, KeyError):
        return f"the finding is not there: {a}", 0


def refused(lab, name, db, *words):
    """Every command that takes a store answers with one line; the program does not run."""
    for command in (["report"], ["run"], ["check"]):
        a = lab.run(*command, f"--db={db}", *([] if command == ["report"] else ["--", lab.racy]))
        lab.count(f"{name}: {command[0]}", complaint(a, *words))


def check_damaged_store(lab):
    good = prepare(lab).read_bytes()
    for n in (1, 50, 100, 512, 4096, 12288, len(good) - 4096):
        db = lab.write(f"stores/cut-{n}.db", good[:n], 0o644)
        refused(lab, f"store cut to {n} bytes", db, db)
        lab.count(f"store cut to {n} bytes is left alone", None if db.read_bytes() == good[:n] else "it was changed")
    db = lab.write("stores/text.db", b"no store\n", 0o644)
    refused(lab, "store that is a short text", db, db)
    lab.count("a short text is left alone", None if db.read_bytes() == b"no store\n" else "it was changed")


def check_flipped_store(lab):
    """Whatever bit is wrong: an answer, or one line and exit 2 or 3; never more findings than there are."""
    good, chance = prepare(lab).read_bytes(), random.Random(4)
    for i in range(60):
        data = bytearray(good)
        for _ in range(chance.choice((1, 1, 8, 200))):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        db = lab.write(f"stores/flipped-{i}.db", bytes(data), 0o644)
        a = lab.run("report", f"--db={db}", "--format=json")
        problem = complaint(a)
        if a.code == 0:
            try:
                problem = None if len(json.loads(a.out)["findings"]) <= 1 and not a.err else f"more than there is: {a}"
            except ValueError:
                problem = f"no JSON: {a}"
        lab.count(f"store with flipped bits {i}", problem)


def check_store_schema(lab):
    changes = {
        "another version": ("PRAGMA user_version = 7", "version 7"),
        "another program's": ("PRAGMA application_id = 7", "another program"),
        "no evidence": ("DROP TABLE evidence", "evidence"),
        "no details": ("UPDATE evidence SET details = 'none'", "details"),
        "blobs": ("UPDATE evidence SET details = zeroblob(99)", "details"),
    }
    for name, (sql, word) in changes.items():
        db = store(lab, name)
        connection = sqlite3.connect(db)
        connection.execute(sql)
        connection.commit()
        connection.close()
        lab.count(f"store with {name}", complaint(lab.run("report", f"--db={db}"), db, word))


def check_closed_store(lab):
    if not may_mount(lab):
        lab.skip("store on a read-only disk", "mounting is not permitted")
        return
    prepare(lab)
    folder = lab.folder("closed")
    mount(folder, 256)
    try:
        shutil.copy(prepare(lab), folder / "f.db")
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        problem, runs = findings(lab, folder / "f.db")
        lab.count("a store on a read-only disk is read", problem or (runs != 1 and f"{runs} runs") or None)
        for name in ("f.db", "new.db"):
            a = lab.run("run", f"--db={folder}/{name}", "--", lab.racy)
            lab.count(f"run with {name} on a read-only disk", complaint(a, f"{folder}/{name}", "Read-only", "--db"))
    finally:
        unmount(folder)


def check_store_of_others(lab):
    """Where one may read but not write."""
    db = store(lab, "others")
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        lab.skip("store of another user", "needs root and setpriv")
        return
    other = ["/usr/bin/env", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    if lab.run(*other, "test", "-x", lab.tool).code != 0 or lab.run(*other, "test", "-r", db).code != 0:
        lab.work.chmod(0o755)
        if lab.run(*other, "test", "-x", lab.tool).code != 0:
            lab.skip("store of another user", "the tool lies in a closed folder")
            return
    db.chmod(0o644)
    db.parent.chmod(0o755)
    a = lab.run(*other, lab.tool, "report", f"--db={db}")
    lab.count("report of another user's store", None if a.code == 0 and "1 finding" in a.out else str(a))
    a = lab.run(*other, lab.tool, "run", f"--db={db}", "--", lab.racy)
    lab.count("run with another user's store", complaint(a, db, "Permission denied"))
    db.chmod(0o666)
    a = lab.run(*other, lab.tool, "run", f"--db={db}", "--", lab.racy)
    lab.count("run with a store in another user's folder", complaint(a, db.parent, "Permission denied"))
    db.chmod(0o600)
    lab.count("report of a closed store", complaint(lab.run(*other, lab.tool, "report", f"--db={db}"), db, "Permission denied"))


def check_held_store(lab):
    """Another program keeps the store for itself, for longer than we wait."""
    db = store(lab, "held")
    holder = sqlite3.connect(db, isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN EXCLUSIVE")
    a = lab.run("report", f"--db={db}")
    lab.count("a store that is held", complaint(a, db, "locked", "another program"))
    holder.execute("ROLLBACK")
    holder.close()
    problem, runs = findings(lab, db)
    lab.count("a store that was held", problem or (runs != 1 and f"{runs} runs") or None)


def check_full_store(lab):
    """The disk fills at every stage in turn; when there is room again, all that was told as found is in the store."""
    prepare(lab)
    if not may_mount(lab):
        lab.skip("store on a full disk", "mounting is not permitted")
        return
    failed = 0
    for spare in (0, 4, 8, 12, 16, 24, 32, 64):
        folder = lab.folder("full", str(spare))
        mount(folder, 128)
        try:
            shutil.copy(prepare(lab), folder / "f.db")
            with open(folder / "fill", "wb", buffering=0) as fill:
                fill.write(bytes((128 - 24 - spare) * 1024))
            a = lab.run("run", f"--db={folder}/f.db", "--", lab.racy)
            (folder / "fill").unlink()
            found, lost = "SUMMARY: deadheat" in a.err, "cannot write the findings log" in a.err
            failed += a.code != FOUND
            problem, runs = findings(lab, folder / "f.db")
            if not problem and runs != 1 + (found and not lost):
                problem = f"{runs} runs: {a}"
            if not problem and a.code not in (3, FOUND):
                problem = str(a)
            lab.count(f"store with {spare} KiB to spare", problem)
        finally:
            unmount(folder)
    lab.count("store on a full disk: the sizes were small enough to matter", None if failed else "nothing failed")


def check_store_lost_meanwhile(lab):
    """The program spoils the store while it runs: the findings wait beside it for another one."""
    db = store(lab, "meanwhile")
    script = lab.write("stores/spoil", f"#!/bin/sh\n{lab.racy}\nprintf 'no store at all, %0600d' 1 >{db}\nexit 7\n".encode())
    a = lab.run("run", f"--db={db}", "--", script)
    ours = [l for l in a.err.splitlines() if "f.db.logs" in l]
    lab.count("a store spoilt meanwhile", None if a.code == 3 and len(ours) == 1 and list(db.parent.glob("f.db.logs/*/*.dhf")) else str(a))
    db.unlink()
    lab.run("run", f"--db={db}", "--", "/bin/true")
    problem, runs = findings(lab, db)
    lab.count("its findings are stored later", problem or (runs != 1 and f"{runs} runs") or None)


def check_many_writers(lab):
    db = store(lab, "writers")
    env = dict(os.environ, XDG_CACHE_HOME=str(lab.cache), DEADHEAT_OPTIONS="print=0")
    many = [subprocess.Popen([lab.tool, "run", f"--db={db}", "--", lab.racy], env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for _ in range(12)]
    bad = [f"exit {p.returncode}: {out}" for p, out in [(p, p.communicate(timeout=900)[0]) for p in many] if p.returncode != FOUND or out]
    lab.count("twelve writers at once", "; ".join(bad) or None)
    problem, runs = findings(lab, db)
    lab.count("what twelve writers stored", problem or (runs != 13 and f"{runs} runs, not 13") or None)
    lab.count("nothing of them is left", "logs" if db.with_name("f.db.logs").exists() else None)


def is_running(*words):
    wanted = b"\0".join(str(w).encode() for w in words) + b"\0"
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes() == wanted:
                return True
        except OSError:
            pass
    return False


def check_killed_writers(lab):
    """deadheat is killed at any moment; every run that had found something is stored in the end, and once only."""
    db, chance = store(lab, "killed"), random.Random(7)
    env = dict(os.environ, XDG_CACHE_HOME=str(lab.cache))
    told = 0
    for i in range(25):
        log = lab.work / "stores" / f"killed-{i}"
        with open(log, "wb") as out:
            p = subprocess.Popen([lab.tool, "run", f"--db={db}", "--", lab.racy, db], env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
            time.sleep(chance.random() * 0.25)
            p.kill()
            p.wait()
        while is_running(lab.racy, db):  # the program itself lives on to its end
            time.sleep(0.05)
        told += b"SUMMARY: deadheat" in log.read_bytes()
    problem, runs = findings(lab, db)
    lab.count("runs whose deadheat was killed", problem or (runs < 1 + told and f"{runs} runs, {told} had told") or None)  # some were killed between storing and telling
    again, same = findings(lab, db)
    lab.count("they are stored once", again or (same != runs and f"{same} runs, then {runs}") or None)


def check_words(lab):
    prepare(lab)
    bad = lab.write("stores/bad.supp", b"# fine\nrace:ok\nno colon here\n", 0o644)
    unknown = lab.write("stores/unknown.supp", b"rage:x\n", 0o644)
    for command in ("run", "check"):
        for path, place in ((bad, f"{bad}:3"), (unknown, f"{unknown}:1"), (lab.work / "stores/none.supp", "none.supp"), (lab.work, lab.work)):
            a = lab.run(command, f"--suppressions={path}", f"--db={lab.work}/stores/w.db", "--", lab.racy)
            lab.count(f"{command} with {path.name}", complaint(a, place, codes=(2,)))
        for option in ("--no-such", "--detect=rage", "--detect", "-x", "--db="):
            a = lab.run(command, option, *(["--", lab.racy] if "=" in option else []))
            lab.count(f"{command} {option}", complaint(a, option.split("=")[0].lstrip("-"), codes=(2,)))
    for words in (["report", "--no-such"], ["report", "--format=xml"], ["report", "--id=nothing"], ["no-such"], ["info", "--no-such", lab.racy]):
        lab.count(" ".join(map(str, words)), complaint(lab.run(*words), codes=(2,)))


CASES = [check_held_store, check_damaged_store, check_flipped_store, check_store_schema, check_closed_store, check_store_of_others,
         check_full_store, check_store_lost_meanwhile, check_many_writers, check_killed_writers, check_words]
