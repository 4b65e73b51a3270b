"""Damaged objects and archives on the link line: a working program, or one line that names the object and no output."""
import random
import struct

from lab import ANSWER, build_complaint, find_section, flipped, remove

FLIPS, UNSEALED_FLIPS = 70, 20


def leftovers(lab, folder, known):
    """Files a failed link left in its folder or in TMPDIR."""
    here = sorted(p.name for p in folder.iterdir() if p.name not in known)
    temp = sorted(p.name for p in (folder / "tmp").iterdir())
    return f"left behind: {here + temp}" if here + temp else None


def link(lab, what, inputs, *mentions, wants=build_complaint, may_work=True):
    """inputs: name -> bytes, linked in that order with the sound part.o."""
    folder = lab.folder("linking", what)
    lab.folder("linking", what, "tmp")
    for name, data in inputs.items():
        (folder / name).write_bytes(data)
    a = lab.run("cc", "-pthread", *inputs, lab.work / "part.o", "-o", "program", cwd=folder, TMPDIR=folder / "tmp")
    if a.code == 0 and may_work:
        p = lab.run(folder / "program")
        problem = None if (p.code, p.out) == (0, ANSWER) and not a.err else f"a wrong program, silently: {a}; ran: {p}"
    else:
        problem = wants(a, *mentions) or leftovers(lab, folder, {*inputs, "tmp"})
    lab.count(f"link {what}", problem)
    remove(folder)


def check_flipped_bitcode(lab):
    data = (lab.work / "main.o").read_bytes()
    _, offset, size = find_section(data, ".dh_ir")
    rng = random.Random(3)
    for bit in sorted({rng.randrange(size * 8) for _ in range(FLIPS)}):
        link(lab, f"main.o with bit {bit} of its bitcode flipped", {"main.o": flipped(data, offset * 8 + bit)}, "main.o")


def check_unsealed_bitcode(lab):
    """Bitcode without our hash, as clang writes it: LLVM's reader must not take the link step down with it."""
    lab.run("/usr/bin/env", "clang-19", "-O2", "-g", "-c", "-Xclang", "-fembed-bitcode=bitcode", "main.c", "-o", "clang.o")
    data = (lab.work / "clang.o").read_bytes()
    _, offset, size = find_section(data, ".llvmbc")
    link(lab, "clang's own bitcode", {"clang.o": data})
    rng = random.Random(4)
    for bit in sorted({rng.randrange(size * 8) for _ in range(UNSEALED_FLIPS)}):
        folder = lab.folder("linking", f"unsealed {bit}")
        (folder / "clang.o").write_bytes(flipped(data, offset * 8 + bit))
        a = lab.run("cc", "-pthread", "clang.o", lab.work / "part.o", "-o", "program", cwd=folder)
        lab.count(f"unsealed bit {bit}", None if a.code == 0 else build_complaint(a, others=r"clang|LLVM ERROR|.* of size"))
        remove(folder)


def native_complaint(a, *mentions):
    """What the linker itself refuses is refused in its words."""
    text = a.err
    ok = a.code in (1, 2, 3) and text and all(str(m) in text for m in mentions) and len(text.splitlines()) <= 6
    return None if ok else f"wanted the linker's or our complaint about {mentions}: {a}"


def check_truncated(lab):
    data = (lab.work / "main.o").read_bytes()
    lab.run("/usr/bin/env", "ar", "rc", "libmain.a", "main.o")
    archive = (lab.work / "libmain.a").read_bytes()
    for part in range(20):
        link(lab, f"main.o cut at {part}/20", {"main.o": data[:len(data) * part // 20]}, wants=native_complaint,
             may_work=False)
        link(lab, f"libmain.a cut at {part}/20", {"libmain.a": archive[:len(archive) * part // 20]},
             wants=native_complaint, may_work=False)
    header, _, size = find_section(data, ".dh_ir")
    for part in range(1, 20):
        cut = bytearray(data)
        struct.pack_into("<Q", cut, header + 32, size * part // 20)
        link(lab, f"main.o with bitcode cut at {part}/20", {"main.o": bytes(cut)}, "main.o", may_work=False)


def check_archives(lab):
    data = (lab.work / "main.o").read_bytes()
    _, offset, _ = find_section(data, ".dh_ir")
    folder = lab.folder("archive")
    (folder / "main.o").write_bytes(flipped(data, offset * 8 + 9000))
    for flags, name in (("rc", "libplain.a"), ("rcT", "libthin.a")):
        lab.run("/usr/bin/env", "ar", flags, name, "main.o", cwd=folder)
        a = lab.run("cc", "-pthread", "-Wl,-u,main", name, lab.work / "part.o", "-o", "program", cwd=folder)
        lab.count(f"damaged member of {name}", build_complaint(a, f"{name}(main.o)", "damaged"))
    (folder / "main.o").unlink()
    a = lab.run("cc", "-pthread", "-Wl,-u,main", "libthin.a", lab.work / "part.o", "-o", "program", cwd=folder)
    lab.count("thin archive without its member", native_complaint(a, "main.o"))


CASES = [check_flipped_bitcode, check_unsealed_bitcode, check_truncated, check_archives]
