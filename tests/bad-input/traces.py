"""Traces and rules that are damaged, foreign or malformed: one line that names the place and what was expected."""
import pathlib

from lab import Answer, complaint

TRACE = b"0 create 1 @a.c:1\n1 begin 0\n1 write x @a.c:2\n0 read x @a.c:3\n"
STD = b"T0|fork(T1)|1\nT1|w(x)|A.java:2\nT0|r(x)|A.java:3\n"
COMMANDS = (["analyze", "--detect=race"], ["trace", "dump"])


def folder(lab, name):
    return lab.folder("traces", name)


def recorded(lab, name):
    """A .dht file of our own making, its path and bytes."""
    at = folder(lab, name)
    (at / "x.trace").write_bytes(TRACE * 200)
    lab.must("trace", "import", at / "x.trace", "-o", at / "x.dht")
    return at / "x.dht", (at / "x.dht").read_bytes()


def refused(lab, name, path, *words):
    for command in COMMANDS:
        a = lab.run(*command, path)
        lab.count(f"{name}: {' '.join(command)}", complaint(a, *words))


def refused_late(lab, name, path, *words):
    """The same where what comes before the damage has been read, and told, already."""
    for command in COMMANDS:
        a = lab.run(*command, path)
        lab.count(f"{name}: {' '.join(command)}", complaint(Answer(a.code, "", a.err), *words))


def foreign_traces(lab):
    at = folder(lab, "foreign")
    (at / "elf.dht").write_bytes(pathlib.Path("/bin/true").read_bytes())
    (at / "zeroes").write_bytes(bytes(4096))
    refused(lab, "a program is no trace", at / "elf.dht", "elf.dht", "expected DHTRACE1 at offset 0")
    refused(lab, "zeroes are no trace", at / "zeroes", "not a trace")
    refused(lab, "no such trace", at / "none.dht", "none.dht", "No such file")


def other_versions(lab):
    path, good = recorded(lab, "versions")
    path.write_bytes(good[:8] + b"\x63" + good[9:])
    refused(lab, "version 99", path, "version 99 at offset 8", "reads version 1")
    path.write_bytes(good[:12] + good[12:16][::-1] + good[16:])
    refused(lab, "another byte order", path, "byte order", "offset 12")


def damaged_traces(lab):
    path, good = recorded(lab, "damaged")
    for at in range(20, len(good), max(1, len(good) // 12)):
        path.write_bytes(good[:at] + bytes([good[at] ^ 0x40]) + good[at + 1:])
        a = lab.run("analyze", "--detect=race", path)
        problem = None if "offset" in a.err and len(a.err.splitlines()) == 1 and a.code in (0, 1, 2) else str(a)
        lab.count(f"a bit of byte {at}", problem)
    path.write_bytes(good + b"more")
    refused_late(lab, "bytes behind the end", path, "expected the end of the file", f"offset {len(good)}")


def cut_traces(lab):
    """What a killed recorder left is analysed, and it is said that it ends early."""
    path, good = recorded(lab, "cut")
    path.write_bytes(good[:10])
    refused(lab, "a cut header", path, "offset 10", "cut short")
    for n in (16, 30, len(good) // 2, len(good) - 3):
        path.write_bytes(good[:n])
        a = lab.run("analyze", "--detect=race", path)
        ok = a.code in (0, 1) and f"cut short at offset {n}" in a.err and len(a.err.splitlines()) == 1
        lab.count(f"cut at {n}", None if ok else str(a))


def malformed_texts(lab):
    at = folder(lab, "texts")
    (at / "x.trace").write_bytes(TRACE + b"0 wriet x\n")
    refused(lab, "an unknown kind", at / "x.trace", "x.trace:5:", "expected a kind of event", "wriet")
    (at / "x.std").write_bytes(STD + b"T0|reads(x)|9\n")
    refused_late(lab, "an unknown operation", at / "x.std", "x.std:4:", "expected an operation", "reads")


def malformed_rules(lab):
    at = folder(lab, "rules")
    (at / "x.trace").write_bytes(TRACE)
    (at / "rules").write_text("skip file *.c\nskip feild x\n")
    for command in COMMANDS:
        a = lab.run(*command, f"--rules={at}/rules", at / "x.trace")
        lab.count(f"rules: {' '.join(command)}", complaint(a, "rules:2:", "expected 'file', 'function', 'type' or 'field'", "feild"))
        a = lab.run(*command, f"--rules={at}/none", at / "x.trace")
        lab.count(f"no rules: {' '.join(command)}", complaint(a, "none", "No such file"))


def wrong_words(lab):
    at = folder(lab, "words")
    (at / "x.trace").write_bytes(TRACE)
    cases = ((["analyze", "--detect=rice", at / "x.trace"], ("no detector 'rice'", "race")),
             (["analyze"], ("name one trace",)),
             (["trace", "bump", at / "x.trace"], ("expected 'dump' or 'import'", "bump")),
             (["trace", "import", at / "x.trace"], ("-o FILE.dht",)),
             (["trace", "import", at / "x.trace", "-o", at / "none/x.dht"], ("none/x.dht", "No such file")))
    for words, says in cases:
        lab.count(f"trace words: {words[0]} {words[1:2]}", complaint(lab.run(*words), *says))


CASES = [foreign_traces, other_versions, damaged_traces, cut_traces, malformed_texts, malformed_rules, wrong_words]
