"""Real programs for the chain: how to build and run each, and the bugs that can be planted in it.

A file of chain.d defines one subclass of Chained and names it PROGRAM. A plant is an edit of one source file, so small that a reviewer could
have missed it: a lock that is not taken, a join that is left out, a signal before its wait, a check without its lock."""
import dataclasses

from .proc import Failure
from .program import Program


@dataclasses.dataclass(frozen=True)
class Job:
    """One command of the program; words are formatted with {data} (a generated file of `kilobytes`) and {tree}."""
    name: str
    words: tuple
    kilobytes: int = 0
    env: tuple = ()


@dataclasses.dataclass(frozen=True)
class Plant:
    name: str
    kind: str  # lock, join, signal, check: what was removed
    file: str
    old: str
    new: str
    job: str = ""  # which job comes there; "": the first
    occurrence: int = 1  # of `old` in the file, if it stands there more than once

    def apply(self, tree):
        path = tree / self.file
        text = path.read_text(errors="surrogateescape")
        pieces = text.split(self.old)
        if len(pieces) <= self.occurrence:
            raise Failure(f"plant {self.name}: {self.file} has no such text")
        edited = self.old.join(pieces[:self.occurrence]) + self.new + self.old.join(pieces[self.occurrence:])
        path.write_text(edited, errors="surrogateescape")
        return text

    def revert(self, tree, text):
        (tree / self.file).write_text(text, errors="surrogateescape")


class Chained(Program):
    jobs = ()
    plants = ()
    flags = ""  # added to CFLAGS and CXXFLAGS

    def job(self, name):
        return next((j for j in self.jobs if j.name == name), self.jobs[0])

    def rebuild(self, b):
        """After an edit."""
        self.build(b)
