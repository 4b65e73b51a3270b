"""The workloads: workload.json, truth.tsv, and the cases (one for each variant) they stand for."""
import csv
import dataclasses
import hashlib
import json
import re
from pathlib import Path

from .proc import Failure

COLUMNS = ["kind", "variable", "access1", "access2", "verdict", "note"]
KINDS = ("race", "atomicity", "view", "deadlock", "critical-wait", "indefinite-wait")
_PLACE = re.compile(r"([\w.+-]+):(\d+)")
_PAIR = re.compile(r"([\w.+-]+:\d+)\s*/\s*([\w.+-]+:\d+)")


@dataclasses.dataclass(frozen=True)
class Defect:
    """A row of truth.tsv. pairs: the places that make it, each ((file, line), (file, line)); also the note's further ones."""
    kind: str
    variable: str
    pairs: tuple
    verdict: str
    variant: str
    number: int  # of its line, which tells equal looking rows apart

    @property
    def label(self):
        return f"{self.kind} {self.variable}"

    @property
    def files(self):
        return {place[0] for pair in self.pairs for place in pair}


def _places(text):
    return [(name, int(line)) for name, line in _PLACE.findall(text)]


def _defect(fields, number, where):
    row = dict(zip([*COLUMNS, "variant"], [f.strip() for f in fields] + [""] * 7))
    if row["kind"] not in KINDS:
        raise Failure(f"{where}:{number}: kind '{row['kind']}' is none of {', '.join(KINDS)}")
    first, second = _places(row["access1"]), _places(row["access2"])
    if not first:
        raise Failure(f"{where}:{number}: '{row['access1']}' is no file:line")
    pairs = [(a, b) for a in first for b in second or first]
    pairs += [(_places(a)[0], _places(b)[0]) for a, b in _PAIR.findall(row["note"])]
    return Defect(row["kind"], row["variable"], tuple(pairs), row["verdict"], row["variant"], number)


def read_truth(path):
    """The defects of a truth.tsv; raises Failure when there is none or it cannot be read."""
    if not path.exists():
        raise Failure("no truth.tsv")
    lines = list(csv.reader(path.read_text().splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
    if not lines or lines[0][:6] != COLUMNS:
        raise Failure(f"{path.name}: the first line is not '{' '.join(COLUMNS)}'")
    return [_defect(fields, n, path.name) for n, fields in enumerate(lines[1:], 2) if any(f.strip() for f in fields)]


@dataclasses.dataclass(frozen=True)
class Case:
    """A workload as one of its variants is built and run."""
    workload: "Workload"
    variant: str
    defs: tuple
    args: tuple  # beyond those of the size

    @property
    def name(self):
        return f"{self.workload.name}/{self.variant}" if self.variant else self.workload.name

    def defects(self):
        return [d for d in self.workload.truth() if d.variant in ("", self.variant)]


class Workload:
    def __init__(self, folder):
        self.dir = Path(folder)
        try:
            data = json.loads((self.dir / "workload.json").read_text())
            self.sources, self.flags = data["sources"], data["flags"]
        except OSError as e:
            raise Failure(f"no workload.json: {e.strerror}") from e
        except (ValueError, KeyError, TypeError) as e:
            raise Failure(f"workload.json: {type(e).__name__}: {e}") from e
        self.name = data.get("name", self.dir.name)
        self.test_args = [str(a) for a in data.get("test_args", [])]
        self.full_args = [str(a) for a in data.get("full_args", self.test_args)]
        self.sizes = [[str(a) for a in args] for args in data.get("sizes", [])]
        if self.full_args not in self.sizes:
            self.sizes.append(self.full_args)
        self.speed, self.expect_fail = bool(data.get("speed")), bool(data.get("expect_fail"))
        self.timeout = float(data.get("timeout", 10))
        self.variants = data.get("variants") or [{"name": ""}]

    @property
    def cxx(self):
        return any(Path(s).suffix in (".cc", ".cpp", ".cxx", ".C") for s in self.sources)

    @property
    def files(self):
        """Names that count as the program's own in a stack."""
        return {p.name for p in self.dir.iterdir() if p.is_file()}

    def truth(self):
        return read_truth(self.dir / "truth.tsv")

    def cases(self):
        return [Case(self, v["name"], tuple(v.get("defs", ())), tuple(str(a) for a in v.get("args", ()))) for v in self.variants]

    def plain_case(self):
        """As it is run for speed: with the size's own arguments."""
        return Case(self, "", (), ())

    def digest(self):
        """Of what is compiled."""
        h = hashlib.sha256()
        for path in sorted(p for p in self.dir.rglob("*") if p.is_file() and p.suffix not in (".md", ".json", ".tsv")):
            h.update(f"{path.relative_to(self.dir)}\0".encode() + path.read_bytes())
        return h.hexdigest()[:16]


def load(top, names):
    """({name: Workload}, {name: reason}) of the folders below top, all or those named; raises Failure for an unknown name."""
    folders = {p.name: p for p in sorted(Path(top).iterdir()) if p.is_dir()}
    unknown = [n for n in names if n not in folders]
    if unknown:
        raise Failure(f"no workload {', '.join(unknown)} in {top}")
    good, bad = {}, {}
    for name in names or folders:
        try:
            good[name] = Workload(folders[name])
        except Failure as e:
            bad[name] = str(e)
    return good, bad


def with_threads(args, count):
    """The arguments with another value after -t."""
    args = list(args)
    if "-t" in args[:-1]:
        args[args.index("-t") + 1] = str(count)
        return args
    return [*args, "-t", str(count)]
