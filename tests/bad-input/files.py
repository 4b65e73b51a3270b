"""Files that are not what the command needs: missing, foreign, stripped, cut, bit-flipped."""
import random
import struct

from lab import ANSWER, ENGINE, complaint, find_section, flipped, remove

FLIPS = 160


def wrong_files(lab):
    """(name, words the message must hold) of things that are no program of ours."""
    def header(**fields):
        h = bytearray(lab.good_bytes)
        for offset, value in fields.values():
            h[offset:offset + len(value)] = value
        return bytes(h)

    lab.folder("directory")
    lab.run("/usr/bin/env", "clang-19", "-x", "c", "-pthread", "main.c", "part.c", "-o", "plain")
    lab.run("/usr/bin/env", "strip", "-R", ".deadheat", "good", "-o", "stripped")
    lab.write("empty", b"")
    lab.write("text", b"not a program\n")
    lab.write("noise", random.Random(1).randbytes(5000))
    lab.write("only-magic", b"\x7fELF")
    lab.write("only-header", lab.good_bytes[:64])
    lab.write("class32", header(ei_class=(4, b"\x01")))
    lab.write("big-endian", header(ei_data=(5, b"\x02")))
    lab.write("arm", header(e_machine=(18, struct.pack("<H", 183))))
    lab.write("i386", header(ei_class=(4, b"\x01"), e_machine=(18, struct.pack("<H", 3))))
    return [("missing", "No such file"), ("directory", "directory"), ("empty", "not an ELF"), ("text", "not an ELF"),
            ("noise", "not an ELF"), ("only-magic", "not an ELF"), ("only-header", ""), ("class32", "x86-64"),
            ("big-endian", "x86-64"), ("arm", "x86-64"), ("i386", "x86-64"), ("plain", "deadheat cc"),
            ("stripped", "stripped")]


def check_wrong_files(lab):
    for name, word in wrong_files(lab):
        for command in ("sites", "info"):
            lab.count(f"{command} {name}", complaint(lab.run(command, name), name, word))
        # What is not ELF may be a script: the system decides, and its answer is passed on.
        word = "" if word == "not an ELF" else word
        lab.count(f"run {name}", complaint(lab.run(*ENGINE, f"./{name}"), name, word))
    lab.count("run without x", complaint(lab.run(*ENGINE, "./main.c"), "main.c", "Permission denied"))
    lab.count("run name not on PATH", complaint(lab.run(*ENGINE, "no-such-program"), "no-such-program", "PATH"))
    lab.count("run unknown plan", complaint(lab.run("run", "--plan=fastest", "--", "./good"), "fastest", "race", codes=(2,)))
    for command in ("sites", "info"):
        lab.count(f"{command} to a full disk", full_output(lab, command))


def check_selections(lab):
    """Options of atomrace and noise: the place and what was expected, in one line, and the program does not run."""
    atomrace = ["run", "--detect=atomrace"]
    lab.write("bad.sections", b"section a {\n  vars total entry main.c:3:R; }\n")
    lab.write("foreign.sections", lab.good_bytes[:3000])
    lab.write("other.sections", b"section a { vars shared.total; entry part.c:add:nothing:R#1; end part.c:add:nothing:W#1; }\n")
    lab.write("bad.train", b"one site\n")
    for given, words in (
            (["--sections=bad.sections"], ("bad.sections:2:14", "expected ',' or ';'")),
            (["--sections=foreign.sections"], ("foreign.sections:1:1", "expected section or heal")),
            (["--sections=missing.sections"], ("missing.sections", "No such file")),
            (["--sections=other.sections"], ("section 'a'", "part.c:add:nothing:R#1")),
            (["--sites=total"], ("'total'", "var:NAME")),
            (["--sites=var:nothing"], ("var:nothing", "deadheat sites")),
            (["--noise=loud"], ("column 1", "expected random")),
            (["--noise=var:total,5,long"], ("column 13", "50us")),
            (["--noise=loc:@findings", "--db=none.db"], ("@findings", "none.db")),
            (["--seed=x"], ("--seed=x", "number")),
            (["--train=bad.train"], ("bad.train:1", "tab"))):
        lab.count(f"run {' '.join(given)}", complaint(lab.run(*atomrace, *given, "--", "./good"), *words, codes=(2,)))
    lab.count("run --sites without atomrace", complaint(lab.run("run", "--sites=all", "--", "./good"), "--sites", "--detect", codes=(2,)))


def full_output(lab, command):
    a = lab.run("/bin/sh", "-c", f"exec '{lab.tool}' {command} good >/dev/full")
    return complaint(a, "No space left", codes=(3,))


def right_or_refused(a, right):
    """Either the whole right answer or one line; never something else."""
    return None if a.code == 0 and a.out == right and not a.err else complaint(a)


def try_damaged(lab, what, data, must_fail=()):
    """All three commands on a damaged copy, which stands where the good one would, with a cache of its own."""
    folder = lab.folder("damaged", what)
    lab.write(f"damaged/{what}/good", data)
    for command, right in (("sites", lab.sites), ("info", lab.info)):
        a = lab.run(command, "good", cwd=folder, XDG_CACHE_HOME=folder / "cache")
        lab.count(f"{command} {what}", complaint(a) if command in must_fail else right_or_refused(a, right))
    a = lab.run(*ENGINE, "./good", cwd=folder, XDG_CACHE_HOME=folder / "cache")
    lab.count(f"run {what}", complaint(a) if "run" in must_fail else right_or_refused(a, ANSWER))
    remove(folder)


def check_cut_section(lab):
    header, _, size = find_section(lab.good_bytes, ".deadheat")
    for part in range(20):
        data = bytearray(lab.good_bytes)
        struct.pack_into("<Q", data, header + 32, size * part // 20)
        try_damaged(lab, f"section cut at {part}/20", data, ("sites", "info", "run"))


def check_cut_file(lab):
    for part in range(1, 20, 2):
        cut = lab.good_bytes[:len(lab.good_bytes) * part // 20]
        try_damaged(lab, f"file cut at {part}/20", cut, ("sites", "info", "run"))


def check_flipped_section(lab):
    _, offset, size = find_section(lab.good_bytes, ".deadheat")
    rng = random.Random(2)
    # The head names program, variant and parts: it gets a share of its own.
    bits = [rng.randrange(96 * 8) for _ in range(FLIPS // 4)] + [rng.randrange(size * 8) for _ in range(FLIPS * 3 // 4)]
    for bit in sorted(set(bits)):
        # info shows the sizes of all parts, so it must notice damage anywhere.
        try_damaged(lab, f"bit {bit} of section", flipped(lab.good_bytes, offset * 8 + bit), ("info",))


def check_damaged_library(lab):
    """A library whose section is damaged must not pass for an uninstrumented one."""
    folder = lab.folder("library")
    data = (lab.work / "libpart.so").read_bytes()
    _, offset, _ = find_section(data, ".deadheat")
    lab.write("library/libpart.so", flipped(data, offset * 8 + 200))
    for words in (["info", "with-library"], [*ENGINE, "./with-library"]):
        a = lab.run(*words, LD_LIBRARY_PATH=folder)
        lab.count(f"{words[0]} with a damaged library", complaint(a, "libpart.so", "damaged"))


CASES = [check_wrong_files, check_selections, check_cut_section, check_cut_file, check_flipped_section, check_damaged_library]
