"""Programs that prove cannot explore, or must not wait for, and witnesses that are damaged, foreign or of another build."""
import json
import pathlib
import re

from lab import complaint

RACE = """#include <pthread.h>
int hits;
static void *hitter(void *a)
{
    hits += STEP;
    return a;
}
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, hitter, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
"""
THREADS = """#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <sys/random.h>
atomic_int shared;
static void *first(void *a) { %s return a; }
static void *second(void *a) { %s return a; }
int main(void)
{
    pthread_t t, u;
    pthread_create(&t, 0, first, 0);
    pthread_create(&u, 0, second, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}
"""
BOUNDS = ("--budget=10m", "--schedules=300")  # the time only ends what hangs
ENDED = (0, 1, 2, 3, 66)


def folder(lab, name):
    return lab.folder("prove", name)


def has_command(lab, name):
    if lab.run("help", "prove").code == 0:
        return True
    lab.skip(name, "there is no such command yet")
    return False


def compiled(lab, at, text, *flags):
    (at / "p.c").write_text(text)
    lab.must("cc", "-O1", "-g", "-pthread", *flags, at / "p.c", "-o", at / "p")
    return at / "p"


def prove(lab, at, program, *options):
    return lab.run("prove", *BOUNDS, f"--db={at / 'f.db'}", *options, "--", program, cwd=at)


def findings(lab, at, level="proven"):
    a = lab.run("report", f"--db={at / 'f.db'}", "--format=json")
    return [f for f in json.loads(a.out)["findings"] if f["level"] == level] if a.code == 0 and a.out else []


def witness(lab, at, *flags):
    """(program, path of a witness of its race), or None of it."""
    program = compiled(lab, at, RACE, *(flags or ("-DSTEP=1",)))
    prove(lab, at, program)
    paths = [f["witness"] for f in findings(lab, at) if f["kind"] == "race" and f["witness"]]
    return program, at / paths[0] if paths else None


def ended(a):
    """None when it came to an end with an exit code of ours."""
    return None if a.code in ENDED else f"wanted an end: {a}"


def says(a, pattern):
    return ended(a) or (None if re.search(pattern, a.out + a.err, re.I) else f"does not say {pattern!r}: {a}")


def prove_words(lab):
    """Options and programs that make no sense."""
    if not has_command(lab, "words of prove"):
        return
    at = folder(lab, "words")
    program = compiled(lab, at, RACE, "-DSTEP=1")
    lab.count("no program", complaint(lab.run("prove", *BOUNDS, f"--db={at / 'f.db'}")))
    for value in ("soon", "-1s", "0s", "1e99s", ""):
        a = lab.run("prove", f"--budget={value}", f"--db={at / 'f.db'}", "--", program)
        lab.count(f"budget {value!r}", complaint(a, "budget"))
    lab.count("no such finding", complaint(prove(lab, at, program, "--id=0123456789abcdef"), "0123456789abcdef"))
    lab.count("no such file", complaint(prove(lab, at, at / "none"), "none"))
    lab.count("not built here", complaint(prove(lab, at, "/bin/true"), "/bin/true"))
    for shard in ("3/2", "0/0", "x", "1/"):
        lab.count(f"shard {shard}", complaint(prove(lab, at, program, f"--shard={shard}"), "shard"))


def prove_programs(lab):
    """What is not like the programs it is made for: clear words, an end, and nothing proven that is not so."""
    if not has_command(lab, "programs for prove"):
        return
    cases = [
        ("has no threads", "int main(void) { return 0; }", "thread"),
        ("fails before its threads", "#include <stdlib.h>\nint main(void) { abort(); }", "thread|abort|signal|ended"),
        ("reads the clock", THREADS % ("struct timespec t; clock_gettime(CLOCK_REALTIME, &t); shared = (int)t.tv_nsec % 2;",
                                       "if (shared == 1) shared = 2;"), None),
        ("reads random numbers", THREADS % ("unsigned r; if (getrandom(&r, sizeof r, 0) > 0) shared = r % 2;",
                                            "if (shared == 1) shared = 2;"), None),
        ("starts a process", THREADS % ('if (system("true")) shared = 1;', "shared = 2;"), None),
        ("writes a file", THREADS % ('FILE *f = fopen("out.txt", "w"); if (f) { fputs("x", f); fclose(f); }', "shared = 2;"), None),
    ]
    for name, text, words in cases:
        at = folder(lab, name.replace(" ", "-"))
        a = prove(lab, at, compiled(lab, at, text))
        lab.count(f"a program that {name}", says(a, words) if words else ended(a))
        if "abort" not in text:
            lab.count(f"nothing is proven of one that {name}", "there is" if findings(lab, at) else None)


def prove_hangs(lab):
    """The budget holds though the program does not end; that it hangs is what is found."""
    if not has_command(lab, "hangs"):
        return
    cases = [("spins on registers", "for (volatile int i = 1; i;) ;", "shared = 1;"),
             ("spins on a flag nobody sets", "while (!shared) ;", ""),
             ("reads what never comes", "int p[2]; char c; if (!pipe(p) && read(p[0], &c, 1)) shared = 1;", "shared = 2;")]
    for name, first, second in cases:
        at = folder(lab, name.replace(" ", "-"))
        a = prove(lab, at, compiled(lab, at, THREADS % (first, second)), "--budget=3s")
        lab.count(f"a thread that {name}", ended(a))


def replay_witnesses(lab):
    if not has_command(lab, "witnesses"):
        return
    at = folder(lab, "witnesses")
    program, path = witness(lab, at)
    if not path:
        lab.count("a witness to damage", "the race was not proven")
        return
    a = lab.run("replay", path, "--", program)
    lab.count("it replays", None if a.code == 0 else str(a))
    for name, data in (("no witness", None), ("empty", b""), ("zeroes", bytes(300)), ("a program", pathlib.Path("/bin/true").read_bytes())):
        other = at / "other.dhw"
        other.unlink(missing_ok=True)
        if data is not None:
            other.write_bytes(data)
        lab.count(f"replay: {name}", complaint(lab.run("replay", "--trust", other, "--", program), "other.dhw"))
    lab.count("replay: no witness", complaint(lab.run("replay")))
    lab.count("replay: a program not built here", complaint(lab.run("replay", path, "--", "/bin/true"), "/bin/true"))
    another, _ = witness(lab, folder(lab, "another"), "-DSTEP=2")
    a = lab.run("replay", path, "--", another)
    lab.count("replay: of another build", None if a.code not in (0, 66) and "build" in a.out + a.err else str(a))


def replay_damage(lab):
    """A text whose lines are missing, twice there or changed: said so in words, never a crash, a hang or a false success."""
    if not has_command(lab, "damaged witnesses"):
        return
    at = folder(lab, "damage")
    program, path = witness(lab, at)
    if not path:
        lab.count("a witness to damage", "the race was not proven")
        return
    lines = path.read_text().splitlines(keepends=True)
    damaged = at / "damaged.dhw"
    for i in range(0, len(lines), max(1, len(lines) // 12)):
        for how, kept in (("without", lines[:i] + lines[i + 1:]), ("cut in", [*lines[:i], lines[i][:len(lines[i]) // 2]]),
                          ("with a huge number in", [*lines[:i], re.sub(r"\d+", "99999999999999999999", lines[i]), *lines[i + 1:]])):
            damaged.write_text("".join(kept))
            lab.count(f"{how} line {i + 1}", ended(lab.run("replay", "--trust", damaged, "--", program)))


def replay_foreign(lab):
    """A file that was not made here is not run just so, and what it says of the environment is not obeyed."""
    if not has_command(lab, "foreign witnesses"):
        return
    at = folder(lab, "foreign")
    program, path = witness(lab, at)
    if not path:
        lab.count("a witness to carry away", "the race was not proven")
        return
    text = path.read_text()
    foreign = folder(lab, "elsewhere") / "w.dhw"
    foreign.write_text(text)
    elsewhere = lab.folder("other-home")
    a = lab.run("replay", foreign, "--", program, cwd=foreign.parent, HOME=elsewhere, XDG_CACHE_HOME=elsewhere,
                XDG_DATA_HOME=elsewhere, XDG_STATE_HOME=elsewhere)
    lab.count("not made here", None if a.code not in (0, 66) and "--trust" in a.out + a.err else str(a))


CASES = [prove_words, prove_programs, prove_hangs, replay_witnesses, replay_damage, replay_foreign]
