"""The small programs of tests/prove/programs and what their first comments say.

`Expected: KIND [or KIND] [on `VARIABLE`] [at `MARK` [and|or `MARK`]...].`: KIND is a finding's kind; each mark stands as
/* MARK */ on the line meant. With `or` between marks one of them is enough. `Also: race on `VARIABLE`, ...` names what else may be
proven. `Expected: nothing` is a correct program; every other one has a correct twin in the same file, by -DFIXED.
`Options:` go to `deadheat prove`; an @ in them is the folder of the programs.
"""
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent / "programs"
KINDS = ("race", "deadlock", "lost-wakeup", "assertion", "crash", "use-after-free", "atomicity")
SAID = re.compile(r"(?P<kinds>[\w-]+(?: or [\w-]+)*)(?: on `(?P<variable>[^`]+)`)?(?: at (?P<marks>`.*`))?\.?$")


class Malformed(Exception):
    pass


class Program:
    def __init__(self, path):
        self.path, self.name = path, path.stem
        is_cxx = path.suffix == ".cc"
        self.compiler, self.tool_compiler = ("clang++-19", "c++") if is_cxx else ("clang-19", "cc")
        self.flags = ["-std=c++20" if is_cxx else "-std=gnu17", "-O1", "-g", "-pthread"]
        self.text = path.read_text()
        comment = re.match(r"/\*(.*?)\*/", self.text, re.S)
        if not comment:
            raise Malformed(f"{path.name}: no comment at its top")
        self.said = " ".join(re.sub(r"\n \*", " ", comment.group(1)).split())
        self.read_expectation()

    def part(self, name):
        found = re.search(rf"{name}: (.*?)(?= (?:Expected|Also|Options): |$)", self.said)
        return found.group(1).strip() if found else ""

    def read_expectation(self):
        said = self.part("Expected")
        self.is_buggy = not said.startswith("nothing")
        self.options = self.part("Options").replace("@", str(self.path.parent)).split()
        self.also = re.findall(r"`([^`]+)`", self.part("Also"))
        if not self.is_buggy:
            return
        parts = SAID.match(said)
        if not parts or not set(parts["kinds"].split(" or ")) <= set(KINDS):
            raise Malformed(f"{self.path.name}: what is meant by `Expected: {said}`?")
        self.kinds, self.variable = parts["kinds"].split(" or "), parts["variable"]
        marks = parts["marks"] or ""
        self.any_line = "` or `" in marks
        self.lines = [self.line_of(m) for m in re.findall(r"`([^`]+)`", marks)]

    def line_of(self, mark):
        at = [n for n, line in enumerate(self.text.splitlines(), 1) if f"/* {mark} */" in line]
        if len(at) != 1:
            raise Malformed(f"{self.path.name}: /* {mark} */ stands on {len(at)} lines")
        return at[0]


def find(names=()):
    """All, or those whose name holds one of the names."""
    paths = sorted([*HERE.glob("*.c"), *HERE.glob("*.cc")], key=lambda p: p.stem)
    return [Program(p) for p in paths if not names or any(n in p.stem for n in names)]
