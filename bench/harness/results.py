"""Where tables go: printed, beside the build, and with --save into bench/results. A saved TSV opens with '# key value' lines; a column
'± X' is the measured noise of column X, and '# gate' names the columns in which more is worse for deadheat."""
import datetime
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from . import table
from .proc import Failure

BENCH = Path(__file__).resolve().parent.parent
NOISE = "± "


def say(*words):
    print("bench:", *words, file=sys.stderr, flush=True)


def _first_line(*argv):
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        return (done.stdout or done.stderr).splitlines()[0].strip()
    except (OSError, IndexError):
        return ""


def versions(peers):
    """[(tool, version)] of those that are there."""
    asked = {"native": ("clang-19", "--version"), "gcc-tsan": ("gcc", "--version"), "helgrind": ("valgrind", "--version")}
    found = [(p.name, _first_line(*asked[p.name])) for p in peers if p.name in asked and not p.missing]
    for p in peers:
        if p.builder == "deadheat" and not p.missing and "deadheat" not in dict(found):
            found.append(("deadheat", _first_line(Path(p.path) / "deadheat", "version")))
    short = {"native": "clang", "gcc-tsan": "gcc", "helgrind": "valgrind"}
    return [(short.get(n, n), v.removeprefix("Debian ").removeprefix(f"{short.get(n, n)}-")
             .removeprefix(f"{short.get(n, n)} ").replace("version ", "")) for n, v in found]


class Results:
    """Of one bench: its name, head, text, tables {suffix: (header, rows)}, and whether something could not be measured."""

    def __init__(self, name, peers, gate=()):
        self.name, self.gate = name, list(gate)
        self.date = datetime.date.today()
        self.versions = versions(peers)
        self.load = os.getloadavg()[0]
        self.text, self.tables, self.failed = "", {}, False

    def head(self):
        lines = [f"{self.date}  {platform.machine()}  {os.cpu_count()} CPUs  load {self.load:.1f} at the start"]
        return "\n".join(lines + [f"{n} {v}" for n, v in self.versions])

    def subtitle(self):
        """For the chart: date and short versions."""
        return ", ".join([str(self.date), *(f"{n} {v.split(' (')[0].split()[-1] if n == 'gcc' else v.split(' (')[0]}"
                                            for n, v in self.versions)])

    def tsv(self, header, rows):
        meta = [("bench", self.name), ("date", self.date), ("cpus", os.cpu_count()), ("load", f"{self.load:.1f}"), *self.versions]
        lines = [f"# {k} {v}\n" for k, v in meta] + [f"# gate {column}\n" for column in self.gate]
        return "".join(lines) + table.tsv(header, rows)

    def write(self, home, stem):
        home.mkdir(parents=True, exist_ok=True)
        (home / f"{stem}.txt").write_text(f"{self.head()}\n\n{self.text}")
        for suffix, (header, rows) in self.tables.items():
            (home / f"{stem}{suffix}.tsv").write_text(self.tsv(header, rows))

    def publish(self, build, draw, keep):
        """Prints, writes beside the build, draws there, and keeps a dated copy when asked."""
        print(f"{self.head()}\n\n{self.text}", end="")
        home = Path(build) / "bench"
        self.write(home, self.name)
        files = [f"{self.name}.txt", *(f"{self.name}{s}.tsv" for s in self.tables)]
        try:
            chart = home / f"{self.name}.svg"
            chart.unlink(missing_ok=True)
            draw(chart)
            files += [chart.name] if chart.exists() else []
        except Failure as e:
            print(f"no chart: {e}")
        print(f"written to {home}: {', '.join(files)}")
        if keep:
            target = BENCH / "results"
            target.mkdir(exist_ok=True)
            for f in files:
                shutil.copyfile(home / f, target / f"{self.date}-{f}")
            print(f"saved in bench/results as {self.date}-{self.name}.*")


def read_table(path):
    """(meta {key: [values]}, header, rows as dicts) of a TSV file; raises Failure."""
    meta, lines = {}, []
    try:
        text = Path(path).read_text()
    except (OSError, UnicodeDecodeError) as e:
        raise Failure(f"{path}: {getattr(e, 'strerror', None) or e}") from e
    for line in text.splitlines():
        if line.startswith("# "):
            key, _, value = line[2:].partition(" ")
            meta.setdefault(key, []).append(value)
        elif line:
            lines.append(line.split("\t"))
    if not lines:
        raise Failure(f"{path}: no table in it")
    header = lines[0]
    for n, row in enumerate(lines[1:], 1):
        if len(row) != len(header):
            raise Failure(f"{path}: row {n} of the table has {len(row)} cells instead of {len(header)}")
    return meta, header, [dict(zip(header, row)) for row in lines[1:]]
