"""bench/papers: the papers' tables, ours beside theirs. A table is a function of the lab that answers a Table; whatever it runs is kept
in the state, so that an interrupted bench goes on where it stopped."""
import dataclasses
import json
import math
import re
import subprocess
import time
from pathlib import Path

from . import match, peers, process, reports, table
from .proc import Failure, reason_in
from .results import BENCH, Results, say
from .state import digest
from .workload import with_threads

_LIMIT = 120  # CPU seconds of one run
_IDLE = 5  # seconds without any, after which it hangs
_STATES = ("init", "handoff", "shared-read", "shared-modified", "conflict")

# 003's programs and ours. A workload with variants has a row for each.
PROGRAMS = (("philo", "philo"), ("elevator", "elevator"), ("mtrt", "mtrt"), ("sor", "sor"), ("tsp", "tsp"), ("hedc", "hedc"), ("mold", "moldyn"),
            ("ray", "raytracer"), ("monte", "montecarlo"), ("specjbb", "warehouse"), ("jigsaw", "webserver"))
CPU_BOUND = ("mtrt", "sor", "tsp", "mold", "ray", "monte")

# 000 Table 3: application, our workload, arguments beyond those of the test size, and the paper's lines, seconds, instrumented seconds, MB, warnings.
TABLE_3 = (("Elevator", "elevator", "", (), ("500", "16.7", "17.5", "1.9", "2")), ("SOR", "sor", "a", (), ("250", "0.8", "343.2", "123.5", "0")),
           ("TSP, very small run (4 cities; ours: 5)", "tsp", "", ("-n", "5"), ("700", "0.6", "1.8", "0.2", "0")),
           ("TSP, larger run (10 cities)", "tsp", "", ("-n", "10"), ("700", "0.6", "28.1", "2.3", "0")),
           ("K9 Rover controller", "rover", "", (), ("7000", "-", "-", "-", "1")),
           ("Remote Agent (section 5: only test cases of it)", "remote-agent", "", (), ("-", "-", "-", "-", "found")))
TABLE_7_1 = {"field": ("1.1", "6.5", "19.1", "20.4", "1.5"), "call": ("1.3", "3.7", "9.1", "9.6", "1.4"),
             "virtual": ("5.9", "8.2", "13.1", "13.6", "5.9"), "monitor": ("3.8", "-", "-", "-", "-")}
TABLE_7_2 = {"philo": "1.70 1.09 0.97 0.00", "elevator": "21.14 8.88 5.71 1.27", "mtrt": "0.47 <0.01 <0.01 <0.01", "sor": "94.56 94.47 93.90 93.81",
             "tsp": "3.80 3.32 3.21 2.01", "hedc": "23.78 4.53 0.76 0.32", "mold": "1.59 0.52 0.31 0.26", "ray": "0.01 <0.01 <0.01 <0.01",
             "monte": "27.88 3.49 3.48 <0.01", "specjbb": "5.22 0.01 0.01 <0.01", "jigsaw": "19.23 1.61 0.41 0.18"}
TABLE_7_3 = {"philo": "48.9 12.6 33.3 5.1", "elevator": "46.9 15.9 27.0 10.2", "mtrt": "48.1 11.6 40.2 0.2", "sor": "37.5 62.5 <0.1 <0.1",
             "tsp": "69.0 30.0 1.0 <0.1", "hedc": "45.8 30.4 21.0 2.8", "mold": "78.6 21.3 0.1 <0.1", "ray": "85.9 2.7 11.4 <0.1",
             "monte": "61.4 22.4 11.1 5.0", "specjbb": "46.9 25.1 23.6 4.3", "jigsaw": "48.6 18.1 28.6 4.6"}
TABLE_7_5 = {"mtrt": "1.33", "sor": "6.96", "tsp": "5.68", "mold": "4.01", "ray": "6.01", "monte": "2.33", "average": "4.39"}
TABLE_7_6 = {"philo": "0 0", "elevator": "0 0", "mtrt": "2 0-1-0", "sor": "1000 0", "tsp": "287 160-1-0", "hedc": "34 21-0-10", "mold": "11 0",
             "ray": "2 0-0-1", "monte": "1 0-1-0", "specjbb": "3 1-0-2", "jigsaw": "14 7-1-1"}
TABLE_7_7 = {"field": "4.8", "shared-read": "7.2", "call": "2.3", "virtual": "4.0"}
TABLE_7_9 = {"mtrt": "1.09", "sor": "1.00", "tsp": "2.74", "mold": "2.69", "ray": "3.99", "monte": "1.44", "average": "2.15"}
TABLE_7_10 = {"philo": "0 0", "elevator": "0 0", "mtrt": "0 0", "sor": "0 0", "tsp": "0 0", "hedc": "9 0-1-8", "mold": "0 0", "ray": "0 0",
              "monte": "0 0", "specjbb": "2 0-1-1", "jigsaw": "14 2-12-0"}


@dataclasses.dataclass
class Table:
    title: str
    header: list
    rows: list
    note: str = ""
    plain: str = ""  # instead of rows: a text of its own


@dataclasses.dataclass
class Use:
    cpu: float
    wall: float


class Lab:
    def __init__(self, home, state, tools, workloads, opts):
        self.home, self.state, self.opts = Path(home), state, opts
        self.native, self.deadheat = tools
        self.workloads = workloads
        self.env = peers.environment(home)
        self.build = peers.Builder(home)
        self.launcher = process.launcher(self.home, self.env)
        self.problems = []
        self.end = time.monotonic() + 60 * opts.budget
        self._code = digest(Path(__file__).read_text(), Path(process.__file__).read_text())

    def late(self):
        return time.monotonic() > self.end

    def fail(self, who, why):
        self.problems.append((who, str(why)))

    def known(self, what, key, function):
        """What function() answers, from an interrupted run if that got so far."""
        key = digest(what, self._code, self.deadheat.key, self.native.key, *key)
        value = self.state.get(key)
        if value is None:
            say(what)
            value = self.state.put(key, function())
        return value

    def cases(self, name):
        w = self.workloads.get(name)
        return [c for c in w.cases()] if w else []

    def case(self, name, variant):
        return next((c for c in self.cases(name) if c.variant == variant), None)

    # Running

    def scratch(self, case, what):
        folder = self.home / "runs" / f"{case.name.replace('/', '.')}.{what}"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def deadheat_env(self, options="exitcode=0:print=0"):
        return dict(self.deadheat.environment(self.env), DEADHEAT_OPTIONS=options)

    def use(self, argv, env, log, what, codes=(0, 1, 66)):
        """CPU of everything that was started, and the time on the wall. Programs with a defect may end with 1."""
        end = process.measure(self.launcher, argv, cwd=log.parent, env=env, log=log, limit=_LIMIT)
        if end.hung:
            raise Failure(f"{what}: {end.hung}")
        if end.rc not in codes:
            raise Failure(f"{what}: {f'ended by {end.crash}' if end.crash else f'exit code {end.rc}'}: {reason_in(log)}")
        return [end.cpu, end.wall]

    def command(self, *argv, codes=(0,), limit=_LIMIT):
        """Output of a command of deadheat's."""
        done = subprocess.run(["deadheat", *map(str, argv)], env=self.deadheat_env(), capture_output=True, text=True, errors="replace",
                              check=False, timeout=3 * limit)
        if done.returncode not in codes:
            raise Failure(f"deadheat {argv[0]}: exit {done.returncode}: {(done.stderr.strip().splitlines() or ['nothing said'])[-1]}")
        return done

    def findings(self, case, detector, *options):
        """Reports of one run at test size."""
        def work():
            program, folder = self.build(case, self.deadheat, False), self.scratch(case, detector)
            db = folder / "found.db"
            db.unlink(missing_ok=True)
            argv = ["deadheat", "run", f"--detect={detector}", *options, f"--db={db}", "--", program, *case.workload.test_args, *case.args]
            self.once(argv, folder / "run.log", case, detector)
            said = self.command("report", f"--db={db}", "--format=json") if db.exists() else None
            found = reports.deadheat(said.stdout, case.workload.files) if said else []
            return [r.record() for r in found]
        got = self.known(f"{case.name}: {detector} {' '.join(options)}".strip(), [case.workload.digest(), *case.args, *options], work)
        return [reports.Report(**r) for r in got]

    def once(self, argv, log, case, what):
        """A run that is not timed; a program may end by its defect where workload.json says so."""
        end = process.run(argv, cwd=log.parent, env=self.deadheat_env(), log=log, limit=_LIMIT, idle_limit=_IDLE)
        if not case.workload.expect_fail and (end.hung or end.rc not in (0, 1, 66)):
            raise Failure(f"{what}: {end.hung or end.crash or f'exit code {end.rc}'}: {reason_in(log)}")

    def plain(self, case, args, n, fixed=False):
        def work():
            program, folder = self.build(case, self.native, fixed), self.scratch(case, "native")
            return self.use([program, *args], self.env, folder / "run.log", f"{case.name}, native")
        return Use(*self.known(f"{case.name}: native, {n + 1}", [case.workload.digest(), *args, fixed], work))

    def trace(self, case, args, *options):
        """A recorded trace at test size, and how large it is; the caller removes it."""
        program, folder = self.build(case, self.deadheat, False), self.scratch(case, "trace")
        path = folder / "run.dht"
        path.unlink(missing_ok=True)
        self.once(["deadheat", "record", *options, "-o", path, "--", program, *args], folder / "record.log", case, f"{case.name}, record")
        if not path.exists():
            raise Failure(f"{case.name}: no trace: {reason_in(folder / 'record.log')}")
        return path, path.stat().st_size


# 000

def _lines(case):
    return sum(len((case.workload.dir / s).read_text().splitlines()) for s in case.workload.sources)


def _row_3(lab, case, args):
    def work():
        program, folder = lab.build(case, lab.deadheat, False), lab.scratch(case, "views")
        db = folder / "found.db"
        db.unlink(missing_ok=True)
        took = lab.use(["deadheat", "run", "--detect=views", f"--db={db}", "--", program, *args], lab.deadheat_env(), folder / "run.log",
                       f"{case.name}, views")
        said = json.loads(lab.command("report", f"--db={db}", "--format=json").stdout)["findings"] if db.exists() else []
        path, size = lab.trace(case, args)
        path.unlink()
        return {"use": took, "size": size, "warnings": sum(f["kind"] == "view" for f in said)}
    got = lab.known(f"{case.name}: views {' '.join(args)}", [case.workload.digest(), *args], work)
    native = min(lab.plain(case, args, n).wall for n in range(lab.opts.rounds))
    return [str(_lines(case)), f"{native:.2f}", f"{got['use'][1]:.2f}", f"{got['size'] / 1e6:.2f}", str(got["warnings"])]


def table_3(lab):
    rows = []
    for title, name, variant, more, paper in TABLE_3:
        case = lab.case(name, variant)
        if not case:
            rows.append([title, name, "no such workload", "", "", "", "", *paper])
            continue
        args = [*case.workload.test_args, *case.args]
        if more:
            at = args.index(more[0]) if more[0] in args else len(args)
            args[at:at + 2] = more
        try:
            rows.append([title, case.name, *_row_3(lab, case, args), *paper])
        except Failure as e:
            lab.fail(title, e)
            rows.append([title, case.name, "failed", "", "", "", "", *paper])
    names = ("lines", "s", "s with views", "log MB", "warnings")
    return Table("000 Table 3: high-level data races (detector views)", ["application", "workload", *names, *(f"paper {n}" for n in names)], rows,
                 "seconds on the wall, at test size; log: what 'deadheat record' writes. The paper's two warnings for the elevator are false")


# 001

def atomrace(number):
    def make(lab):
        def work():
            done = subprocess.run([BENCH / "papers-atomrace", lab.opts.build, f"--runs={lab.opts.runs}", f"--table={number}"], env=lab.env,
                                  capture_output=True, text=True, errors="replace", check=False, timeout=3600)
            if done.returncode:
                raise Failure(f"papers-atomrace: exit {done.returncode}: {(done.stderr.strip().splitlines() or ['nothing said'])[-1]}")
            return done.stdout.strip()
        title = f"001 Table {number}: AtomRace"
        missing = [n for n in ("orb", "bank") if n not in lab.workloads]
        if missing:
            return Table(title, [], [], f"no workload {', '.join(missing)}")
        return Table(title, [], [], plain=lab.known(f"papers-atomrace --table={number}", [lab.opts.runs], work).partition("\n")[2])
    return make


# 003

def _per_program(lab, row, columns, paper):
    """A row for every case of every program of the thesis: row(case) answers its cells."""
    rows = []
    for theirs, ours in PROGRAMS:
        words = paper[theirs].split() if theirs in paper else ["-"] * columns
        cases = lab.cases(ours)
        if not cases:
            rows.append([theirs, "no such workload", *[""] * columns, *words])
        for case in cases:
            try:
                cells = ["not measured", *[""] * (columns - 1)] if lab.late() else row(case)
            except (Failure, subprocess.TimeoutExpired) as e:
                lab.fail(case.name, e)
                cells = ["failed", *[""] * (columns - 1)]
            rows.append([theirs, case.name, *cells, *words])
    return rows


def table_7_2(lab):
    def row(case):
        def work():
            args = [*case.workload.test_args, *case.args]
            path, _ = lab.trace(case, args)
            said = lab.command("analyze", "--detect=object", "--granularity=object", "--counts", path, codes=(0, 1)).stderr
            path.unlink()
            found = re.search(r"^object: (\d+) init, (\d+) handoff, (\d+) shared-read, (\d+) shared-modified, (\d+) conflict", said, re.M)
            if not found:
                raise Failure("analyze --counts says nothing of objects")
            return list(map(int, found.groups()))
        init, *counts = lab.known(f"{case.name}: states of objects", [case.workload.digest(), *case.args], work)
        return [str(init), *(f"{100 * n / init:.2f}" if init else "-" for n in counts)]
    rows = _per_program(lab, row, 5, TABLE_7_2)
    return Table("003 Table 7.2: states that objects come to, in % of all (object, --granularity=object)",
                 ["program", "workload", "objects", *_STATES[1:], *(f"paper {s}" for s in ("handoff", "shared-r", "shared-w", "conflict"))], rows,
                 "objects: allocations, globals and stacks that were accessed. One C array is one object, where the thesis counts every row of a "
                 "matrix and every string")


_METHODS, _MONITORS = ("enter",), ("lock", "unlock", "wait", "woken")


def _partition(text_lines):
    """Events of a dumped trace: fields, arrays, activations, monitors."""
    counts = [0, 0, 0, 0]
    for line in text_lines:
        words = line.split(" ", 3)
        if len(words) < 2:
            continue
        kind = words[1]
        if kind in ("read", "write", "atomic"):
            name = re.search(r'\bvar=("[^"]*"|\S+)', line)
            counts[bool(name) and "[" in name.group(1)] += 1
        elif kind in _METHODS:
            counts[2] += 1
        elif kind in _MONITORS:
            counts[3] += 1
    return counts


def table_7_3(lab):
    def row(case):
        def work():
            path, _ = lab.trace(case, [*case.workload.test_args, *case.args], "--plan=lockset,scope")
            dump = subprocess.Popen(["deadheat", "trace", "dump", path], env=lab.deadheat_env(), stdout=subprocess.PIPE, text=True, errors="replace")
            with dump:
                counts = _partition(dump.stdout)
            path.unlink()
            if dump.returncode:
                raise Failure(f"trace dump: exit {dump.returncode}")
            return counts
        counts = lab.known(f"{case.name}: kinds of events", [case.workload.digest(), *case.args], work)
        total = sum(counts) or 1
        return [str(sum(counts)), *(f"{100 * n / total:.1f}" for n in counts)]
    return Table("003 Table 7.3: events, in % (everything instrumented)",
                 ["program", "workload", "events", "field", "array", "method", "monitor", "paper field", "paper array", "paper method", "paper monitor"],
                 _per_program(lab, row, 5, TABLE_7_3),
                 "of a recorded trace: repeats within a segment are one event, activations are of functions that work on an object and are not only "
                 "reading; the thesis' columns self and other, static and virtual are summed up")


def _classes(lab, case, found):
    """(reports, spurious-benign-harmful) against truth.tsv."""
    defects = case.defects()
    counts = [0, 0, 0]
    for report in found:
        fits = match.fitting(report, defects) if report.kind in match.JUDGED else []
        counts[0 if not fits else 2 if any(d.verdict == "destructive" for d in fits) else 1] += 1
    return [str(len(found)), "-".join(map(str, counts)) if found else "0"]


def _reports(detector, title, paper, *options):
    def make(lab):
        def row(case):
            return _classes(lab, case, lab.findings(case, detector, *options))
        return Table(title, ["program", "workload", "reports", "s-b-h", "paper reports", "paper s-b-h"], _per_program(lab, row, 2, paper),
                     "spurious-benign-harmful: not in truth.tsv, there as harmless, there as destructive. One report stands for all objects at the same "
                     "places, in the thesis for one object; its classes are those without arrays. Test size, one run")
    return make


def _ways(lab):
    return [("native", ()), ("race", ("deadheat", "run", "--detect=race", "--")), ("object", ("deadheat", "run", "--detect=object", "--granularity=object", "--")),
            ("consistency", ("deadheat", "run", "--detect=consistency", "--"))]


def _time_case(lab, case):
    """{way: least CPU}, taken in turns; infinite when it came to the limit, not a number when it failed."""
    w = case.workload
    args = with_threads(w.full_args if lab.opts.size == "full" else w.test_args, 2)
    ways, uses = _ways(lab), {}
    folder = lab.scratch(case, "speed")
    for n in range(lab.opts.rounds):
        for name, prefix in ways[n % len(ways):] + ways[:n % len(ways)]:
            if n and (name not in uses or lab.late()):
                continue
            peer = lab.deadheat if prefix else lab.native

            def work(name=name, prefix=prefix, peer=peer):
                program = lab.build(case, peer, True)
                env = lab.deadheat_env() if prefix else lab.env
                if prefix:
                    lab.use([*prefix, program, *w.test_args], env, folder / "derive.log", f"{case.name}, {name}")
                return lab.use([*prefix, program, *args], env, folder / f"{name}.log", f"{case.name}, {name}")
            try:
                uses.setdefault(name, []).append(lab.known(f"{case.name}: {name}, round {n + 1}", [w.digest(), *args], work))
            except Failure as e:
                limit = str(e).startswith(f"{case.name}, {name}: no end")
                if not limit:
                    lab.fail(case.name, e)
                uses.setdefault(name, []).append([float("inf") if limit else float("nan"), 0])
    return {name: min(u[0] for u in found) for name, found in uses.items()}


def _speed(lab):
    """{program of the thesis: (workload, {way: CPU})}, measured once for both tables."""
    if not hasattr(lab, "speed"):
        lab.speed = {}
        for theirs, ours in PROGRAMS:
            w = lab.workloads.get(ours)
            if theirs in CPU_BOUND and w and not lab.late():
                lab.speed[theirs] = (ours, _time_case(lab, w.plain_case()))
    return lab.speed


def _ratio(a, b):
    if a is None or b is None or not b or not math.isfinite(b) or math.isnan(a):
        return None
    return a / b


def _shown(value):
    return "-" if value is None else "failed" if math.isnan(value) else "over the limit" if math.isinf(value) else f"{value:.2f}"


def _overheads(detector, title, paper, column):
    def make(lab):
        rows, ratios, to_race = [], [], []
        for theirs, ours in PROGRAMS:
            if theirs not in CPU_BOUND:
                continue
            name, cpu = _speed(lab).get(theirs, (ours, {}))
            mine, race = _ratio(cpu.get(detector), cpu.get("native")), _ratio(cpu.get("race"), cpu.get("native"))
            against = _ratio(mine, race)
            ratios.append(mine)
            to_race.append(against)
            missing = "" if cpu else "no such workload" if ours not in lab.workloads else "not measured"
            rows.append([theirs, name, _shown(cpu.get("native")) if cpu else missing, _shown(mine), _shown(race), _shown(against), paper[theirs]])
        def mean(values):
            known = [v for v in values if v is not None and math.isfinite(v)]
            return f"{sum(known) / len(known):.2f}" if known and len(known) == len(values) else "-"
        rows.append(["average", "", "", mean(ratios), "", mean(to_race), paper["average"]])
        return Table(title, ["program", "workload", "native s", f"{detector} x", "race x", f"{detector}/race", f"paper {column}"], rows,
                     f"user + system CPU of everything, the detector's process as well; {lab.opts.size} size, corrected twins, two threads, least of "
                     f"{lab.opts.rounds} in turns; x: times native. A run ends after {_LIMIT} s of CPU")
    return make


# Micro benchmarks

class Micro:
    """bench/papers.d/micro.c as a case of its own."""

    def __init__(self, lab):
        self.lab, self.source = lab, BENCH / "papers.d" / "micro.c"
        self.folder = lab.home / "micro"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.key = digest(self.source.read_text())
        self._built = {}

    def program(self, peer):
        if peer not in self._built:
            words = ["deadheat", "cc"] if peer.builder == "deadheat" else [peer.cc]
            path = self.folder / f"micro-{peer.name}"
            self.lab.use([*words, "-g", "-O2", "-pthread", self.source, "-o", path], peer.environment(self.lab.env), self.folder / "build.log", "micro", (0,))
            self._built[peer] = path
        return self._built[peer]

    def cost(self, prefix, kind, state, loops):
        """Nanoseconds of one round, without what starting costs; least of several."""
        peer = self.lab.deadheat if prefix else self.lab.native
        env = self.lab.deadheat_env() if prefix else self.lab.env

        def work():
            program = self.program(peer)
            def least(n):
                return min(self.lab.use([*prefix, program, kind, state, str(n)], env, self.folder / "run.log", f"micro {kind} {state}")[0]
                           for _ in range(self.lab.opts.rounds))
            nothing = least(0) if not prefix else [least(0), least(0)][1]  # the first one derives the variant
            return max(least(loops) - nothing, 0) / loops * 1e9
        return self.lab.known(f"micro: {kind} {state} {' '.join(prefix[2:-1])}", [self.key, loops], work)

    def ratio(self, detector, kind, state):
        if self.lab.late():
            return "not measured"
        loops = 10 ** 6 if kind == "monitor" else 10 ** 7
        try:
            native = self.cost((), kind, state, 10 * loops)
            mine = self.cost(("deadheat", "run", f"--detect={detector}", "--"), kind, state, loops)
        except Failure as e:
            self.lab.fail(f"micro {kind} {state}", e)
            return "failed"
        return f"{mine / native:.1f}" if native else "-"


def table_7_1(lab):
    micro, states = Micro(lab), ("owned", "handoff-0", "handoff-1", "shared", "conflict")
    rows = []
    for kind, paper in TABLE_7_1.items():
        ours = [micro.ratio("object", kind, s) if kind != "monitor" or s == "owned" else "-" for s in states]
        rows.append([kind, *ours, *paper])
    return Table("003 Table 7.1: cost of an access by the object's state, times without instrumentation (object)",
                 ["access", *states, *(f"paper {s}" for s in states)], rows,
                 "CPU of everything, the detector's process as well. Our detector has no cheaper state 'init'. Repeats within a segment are left out where "
                 "they happen; a monitor is an event each time. Virtual: through a pointer")


def table_7_7(lab):
    micro = Micro(lab)
    rows = []
    for kind, paper in TABLE_7_7.items():
        rows.append([kind, micro.ratio("consistency", kind, "conflict" if kind == "shared-read" else "handoff-0"), paper])
    return Table("003 Table 7.7: cost of an access, times without instrumentation (consistency)", ["access", "ours", "paper"], rows,
                 "CPU of everything. Shared-read: another thread reads as well")


TABLES = {
    "000-3": table_3, "001-1": atomrace(1), "001-2": atomrace(2), "003-7.1": table_7_1, "003-7.2": table_7_2, "003-7.3": table_7_3,
    "003-7.5": _overheads("object", "003 Table 7.5: run time with object race detection (rc incl array, all)", TABLE_7_5, "all"),
    "003-7.6": _reports("object", "003 Table 7.6: conflicts reported (object, --granularity=object)", TABLE_7_6, "--granularity=object"),
    "003-7.7": table_7_7,
    "003-7.9": _overheads("consistency", "003 Table 7.9: run time with object consistency (oc, all)", TABLE_7_9, "all"),
    "003-7.10": _reports("consistency", "003 Table 7.10: violations of the access discipline reported (consistency)", TABLE_7_10),
}


def run(lab, names):
    """Results of the tables that are asked for; what fails or comes too late is said in its place."""
    results = Results("papers", [lab.native, lab.deadheat])
    parts = []
    for name in names:
        if lab.late():
            lab.fail(name, "the time was up (--budget)")
            parts.append(f"{name}: not measured\n")
            continue
        try:
            made = TABLES[name](lab)
        except (Failure, OSError, subprocess.TimeoutExpired) as e:
            lab.fail(name, e)
            parts.append(f"{name}: failed\n")
            continue
        results.tables[f"-{name}"] = (made.header, made.rows) if made.rows else (["table"], [])
        body = made.plain or (table.text(made.header, made.rows) if made.rows else "")
        parts.append("\n".join(p for p in (made.title, body, made.note) if p) + "\n")
        say(f"{name} is done")
    if lab.problems:
        parts.append("\n".join([f"Not measured ({len(lab.problems)})", *(f"{who}: {why}" for who, why in lab.problems)]) + "\n")
    results.text = "\n".join(parts)
    results.failed = bool(lab.problems)
    return results
