"""Real programs for the chain: how to build and run each, and the bugs that can be planted in it.

A file of chain.d defines one subclass of Chained and names it PROGRAM. A plant is an edit of one source file, so small that a reviewer could
have missed it: a lock that is not taken, a join that is left out, a signal before its wait, a check without its lock, a state that all share. It says where it is to be seen:
a finding that is of none of these sights is not the plant's, whatever it is."""
import dataclasses
import fnmatch
import os
import re

from .proc import Failure
from .program import Program


UNPLANTED = ".unplanted"  # what a planted file was, beside it


@dataclasses.dataclass(frozen=True)
class Job:
    """One command of the program; words are formatted with {data} (a generated file of `kilobytes`) and {tree}."""
    name: str
    words: tuple
    kilobytes: int = 0
    env: tuple = ()


# Kinds of findings that a defect can show itself by: where accesses are no longer ordered, and where nobody is woken.
UNORDERED = ("race", "atomicity", "use-after-free")
STUCK = ("deadlock", "lost-wakeup", "indefinite-wait")
WRONG = ("crash", "assertion")


def _names(function):
    """By which a function may be named: a::b<int>::c(int) is a::b::c, b::c and c; namespaces without a name are left out."""
    function = function.replace("(anonymous namespace)::", "")
    while "<" in function and (shorter := re.sub(r"<[^<>]*>", "", function)) != function:
        function = shorter
    scopes = function.partition("(")[0].split("::")
    return {"::".join(scopes[i:]) for i in range(len(scopes))}


@dataclasses.dataclass(frozen=True)
class Sight:
    """A way in which a plant shows itself: a finding of one of the kinds, on a variable that one of the patterns (of fnmatch) fits and where each of
    the functions is on a stack; what is left empty may be any. One of variables and functions must be named."""
    kinds: tuple
    variables: tuple = ()
    functions: tuple = ()

    def __post_init__(self):
        if not self.kinds or not (self.variables or self.functions):
            raise Failure("a sight without kinds, or with neither variable nor function, would be any finding")

    def fits(self, finding):
        accesses = finding.get("accesses", ())
        named = {finding.get("variable", ""), *(a.get("variable", "") for a in accesses)}
        called = {name for a in accesses for frame in (a, *a.get("stack", ())) for name in _names(frame.get("function", ""))}
        return (finding["kind"] in self.kinds and called.issuperset(self.functions)
                and (not self.variables or any(fnmatch.fnmatchcase(n, p) for n in named for p in self.variables)))


@dataclasses.dataclass(frozen=True)
class Plant:
    name: str
    kind: str  # lock, join, signal, check: what was removed; own: a state of each call became one for all
    file: str
    old: str
    new: str
    seen: tuple  # of Sights
    job: str = ""  # which job comes there; "": the first
    occurrence: int = 1  # of `old` in the file, if it stands there more than once

    def __post_init__(self):
        if not self.seen:
            raise Failure(f"plant {self.name}: it does not say where it is to be seen")

    def shown_by(self, finding):
        return any(sight.fits(finding) for sight in self.seen)

    def apply(self, tree):
        path = tree / self.file
        text = path.read_text(errors="surrogateescape")
        pieces = text.split(self.old)
        if len(pieces) <= self.occurrence:
            raise Failure(f"plant {self.name}: {self.file} has no such text")
        edited = self.old.join(pieces[:self.occurrence]) + self.new + self.old.join(pieces[self.occurrence:])
        path.with_name(path.name + UNPLANTED).write_text(text, errors="surrogateescape")
        path.write_text(edited, errors="surrogateescape")


def weed(tree):
    """Takes every plant out again, also one that an interrupted run left; whether there was any. Make sees that the file changed."""
    left = list(tree.rglob("*" + UNPLANTED))
    for kept in left:
        os.utime(kept)
        kept.replace(kept.with_name(kept.name.removesuffix(UNPLANTED)))
    return bool(left)


class Chained(Program):
    jobs = ()
    plants = ()
    flags = ""  # added to CFLAGS and CXXFLAGS

    def job(self, name):
        return next((j for j in self.jobs if j.name == name), self.jobs[0])

    def rebuild(self, b):
        """After an edit: what the jobs of the plants run, and no more."""
        self.build(b)
