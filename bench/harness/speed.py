"""bench/speed: the rounds, the ratios and their noise. The twins are measured: they are what the programs compute without any tool
having something to report, whose printing would be measured as well."""
import dataclasses
import math
from pathlib import Path

from . import peers, process, table
from .proc import Failure, reason_in
from .results import NOISE, Results, say
from .state import digest
from .workload import with_threads

_LIMIT = 300
_TSAN_COSTS = 1.05  # below that, what it adds is nothing to divide by
_LEAST = 0.01  # what an added cost of nothing, or less by noise, counts in a geometric mean
_AGAIN = "native again"  # the same program a second time in each round: what differs is noise


@dataclasses.dataclass(frozen=True)
class Way:
    """A way to run what a tool built; a column."""
    name: str
    peer: object
    prefix: tuple = ()
    once: bool = False  # too slow for full size: once, at test size

    def argv(self, program, args):
        return [*self.prefix, str(program), *args]


def _deadheat_way(peer, text):
    if text == "default":
        return Way("deadheat", peer)
    detect, _, plan = text.partition(":")
    words = [f"--detect={detect}"] + ([f"--plan={plan}"] if plan else ["--plan=none"] if detect == "none" else [])
    return Way(f"deadheat {text}", peer, ("deadheat", "run", *words, "--"))


def ways(tools, variants):
    found = []
    for peer in tools:
        if peer.name == "native":
            found += [Way("native", peer), Way(_AGAIN, peer)]
        elif peer.name == "deadheat":
            found += [_deadheat_way(peer, v) for v in variants.split(",") if v]
        elif isinstance(peer, peers.Valgrind):
            found.append(Way(peer.name, peer, ("valgrind", "-q", f"--tool={peer.name}", "--fair-sched=try", "--"), once=True))
        else:
            found.append(Way(peer.name, peer))
    return found


@dataclasses.dataclass(frozen=True)
class Unit:
    """A row: a program with so many threads, at one size."""
    case: object
    threads: int
    size: str
    args: tuple

    @property
    def name(self):
        return self.case.name

    @property
    def title(self):
        return f"{self.name}, {self.threads} threads, size {self.size}"


def _units(workloads, full, size):
    """Full size at two threads; all of it: also the other sizes at two threads, and other threads at full size."""
    for w in workloads:
        if size == "test":
            sizes = [("test", w.test_args)]
        elif full:
            sizes = [("full" if args == w.full_args else f"{n}/{len(w.sizes)}", args) for n, args in enumerate(w.sizes, 1)]
        else:
            sizes = [("full", w.full_args)]
        for threads in (2, 1, 4) if full else (2,):
            for name, args in sizes:
                if threads == 2 or name in ("full", "test"):
                    yield Unit(w.plain_case(), threads, name, tuple(with_threads(args, threads)))


class Sample:
    """Of one way in one unit: least CPU, least peak, and how far the next best was."""

    def __init__(self, uses):
        cpus, peaks = sorted(u[0] for u in uses), sorted(u[1] for u in uses)
        self.cpu, self.rss = cpus[0], peaks[0]
        self.spread = cpus[1] / cpus[0] - 1 if len(cpus) > 1 and cpus[0] else 0.0
        self.rss_spread = peaks[1] / peaks[0] - 1 if len(peaks) > 1 and peaks[0] else 0.0


def _geometric(values):
    values = [v for v in values if v and v > 0]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def _number(value, digits=2):
    return "" if value is None else f"{value:.{digits}f}"


class Speed:
    def __init__(self, home, state, all_ways, opts):
        self.home, self.state, self.opts = Path(home), state, opts
        self.build, self.env = peers.Builder(home), peers.environment(home)
        self.turns = [w for w in all_ways if not w.once]
        self.single = [w for w in all_ways if w.once]
        self.tools = [w for w in self.turns if w.name not in ("native", _AGAIN)]
        self.samples, self.reasons, self.problems = {}, {}, []
        self.units = []
        self.launcher = process.launcher(self.home, self.env)
        self._code = digest(Path(__file__).read_text(), (Path(__file__).parent / "process.py").read_text())

    # Measuring

    def run(self, workloads, broken, tools):
        self.units = list(_units(workloads, self.opts.full, self.opts.size))
        self.problems += list(broken.items())
        self.problems += [(p.name, f"missing: {p.missing}") for p in tools if p.missing]
        total = len(self.units)
        for n, unit in enumerate(self.units, 1):
            self._measure(unit, f"[{n}/{total}]")
        for n, w in enumerate(workloads, 1):
            self._measure_once(w, f"[{n}/{len(workloads)}]")
        return self._results(tools)

    def _fail(self, unit, way, why):
        if way.peer.missing:
            word = "missing"
        else:
            word = "hang" if why.startswith("no end") else "not built" if why.startswith("not built") else "failed"
            self.problems.append((f"{unit.title}, {way.name}", why))
        self.reasons[unit, way.name] = word

    def _programs(self, unit, chosen):
        """{way: program}, and derived variants made before anything is timed."""
        programs = {}
        for way in chosen:
            try:
                programs[way] = self.build(unit.case, way.peer, True)
                if way.prefix[:2] == ("deadheat", "run"):
                    self._once(way, programs[way], unit.case.workload.test_args, _LIMIT)
            except Failure as e:
                self._fail(unit, way, str(e))
                programs.pop(way, None)
        return programs

    def _once(self, way, program, args, limit):
        log = self.home / "log" / f"{program.name}.{way.name.replace(' ', '-').replace(':', '-')}.log"
        end = process.measure(self.launcher, way.argv(program, args), cwd=log.parent if log.parent.exists() else self.home,
                              env=way.peer.environment(self.env), log=log, limit=limit)
        if end.hung:
            raise Failure(end.hung)
        if end.rc not in (0, 66):
            how = f"ended by {end.crash}" if end.crash else f"exit code {end.rc}"
            said = reason_in(log)
            raise Failure(how if said.startswith("$ ") else f"{how}: {said}")  # $: the command, so it said nothing itself
        return [end.cpu, end.rss]

    def _key(self, unit, way_names, keys, n):
        w = unit.case.workload
        return digest("round", self._code, w.digest(), w.flags, way_names, keys, unit.args, n)

    def _measure(self, unit, progress):
        programs = self._programs(unit, self.turns)
        uses = {way: [] for way in programs}
        for n in range(self.opts.rounds):
            running = [w for w in self.turns if w in uses]
            key = self._key(unit, [w.name for w in running], [w.peer.key for w in running], n)
            known = self.state.get(key)
            say(f"{progress} {unit.title}: round {n + 1} of {self.opts.rounds}{' (known)' if known else ''}")
            taken = known or self._round(unit, running, programs, n)
            if not known and len(taken) == len(running):
                self.state.put(key, taken)
            for way in running:
                if way.name in taken:
                    uses[way].append(taken[way.name])
                else:
                    del uses[way]
        for way, found in uses.items():
            self.samples[unit, way.name] = Sample(found)

    def _round(self, unit, running, programs, n):
        """Each way once, beginning with another one in each round."""
        taken = {}
        start = n % len(running) if running else 0
        for way in running[start:] + running[:start]:
            try:
                taken[way.name] = self._once(way, programs[way], unit.args, _LIMIT)
            except Failure as e:
                self._fail(unit, way, str(e))
        return taken

    def _measure_once(self, w, progress):
        if not self.single:
            return
        unit = Unit(w.plain_case(), 2, "test once", tuple(with_threads(w.test_args, 2)))
        native = next(x for x in self.turns if x.name == "native")
        programs = self._programs(unit, [native, *self.single])
        for way, program in programs.items():
            key = self._key(unit, [way.name], [way.peer.key], "once")
            say(f"{progress} {w.name}: {way.name}, test size")
            try:
                uses = self.state.get(key)
                if uses is None:
                    times = 3 if way is native else 1  # the divisor is a few hundredths of a second
                    uses = self.state.put(key, [self._once(way, program, unit.args, _LIMIT) for _ in range(times)])
                self.samples[unit, way.name] = Sample(uses)
            except Failure as e:
                self._fail(unit, way, str(e))

    # Ratios. A ratio's noise: native against itself, or the distance to the tool's own second best, whichever is more.

    def noise(self, unit):
        a, b = self.samples.get((unit, "native")), self.samples.get((unit, _AGAIN))
        return abs(a.cpu / b.cpu - 1) if a and b and b.cpu else None

    def ratio(self, unit, name):
        """(ratio, noise) to native, or (None, None)."""
        mine, native = self.samples.get((unit, name)), self.samples.get((unit, "native"))
        if not mine or not native or not native.cpu:
            return None, None
        value = mine.cpu / native.cpu
        return value, value * max(self.noise(unit) or 0, mine.spread)

    def memory(self, unit, name):
        mine, native = self.samples.get((unit, name)), self.samples.get((unit, "native"))
        if not mine or not native or not native.rss:
            return None, None
        value = mine.rss / native.rss
        return value, value * (mine.rss_spread + native.rss_spread)

    def added(self, unit, name):
        """(mine - native) / (TSan - native), with the noise of both differences."""
        mine, mine_noise = self.ratio(unit, name)
        theirs, their_noise = self.ratio(unit, "tsan")
        if mine is None or theirs is None or theirs < _TSAN_COSTS:
            return None, None
        value = (mine - 1) / (theirs - 1)
        return value, abs(value) * (mine_noise / max(abs(mine - 1), 1e-3) + their_noise / (theirs - 1))

    def _ours(self):
        return [w.name for w in self.tools if w.peer.name == "deadheat"]

    def _ratio_columns(self):
        """[(title, function(unit) -> (value, noise))]."""
        found = []
        for way in self.tools:
            found.append((f"{way.name}/native", lambda u, n=way.name: self.ratio(u, n)))
        if any(w.name == "tsan" for w in self.tools):
            found += [(f"{n} added/tsan added", lambda u, n=n: self.added(u, n)) for n in self._ours()]
        return found + [(f"{w.name} peak/native", lambda u, n=w.name: self.memory(u, n)) for w in self.tools]

    def _single_unit(self, unit):
        return Unit(unit.case, 2, "test once", tuple(with_threads(unit.case.workload.test_args, 2)))

    def single_ratio(self, unit, name):
        return self.ratio(self._single_unit(unit), name)[0]

    # Tables

    def _seconds(self, unit, name):
        sample = self.samples.get((unit, name))
        return _number(sample.cpu, 3) if sample else self.reasons.get((unit, name), "")

    def _megabytes(self, unit, name):
        sample = self.samples.get((unit, name))
        return _number(sample.rss / 1024, 1) if sample else ""

    def _table(self):
        timed = ["native", *(w.name for w in self.tools)]
        ratios = self._ratio_columns()
        header = ["program", "threads", "size", *(f"{n} s" for n in timed), "noise %", *(f"{n} MB" for n in timed)]
        for title, _ in ratios:
            header += [title, NOISE + title]
        header += [f"{w.name}/native at test size" for w in self.single]
        rows = [self._row(unit, timed, ratios) for unit in self.units]
        return header, rows + self._means(timed, ratios)

    def _row(self, unit, timed, ratios):
        noise = self.noise(unit)
        row = [unit.name, str(unit.threads), unit.size, *(self._seconds(unit, n) for n in timed),
               _number(100 * noise if noise is not None else None, 1), *(self._megabytes(unit, n) for n in timed)]
        for _, function in ratios:
            row += [_number(v, 3) for v in function(unit)]
        for way in self.single:
            value = self.single_ratio(unit, way.name)
            row.append(_number(value, 1) if value is not None else self.reasons.get((self._single_unit(unit), way.name), ""))
        return row

    def _groups(self):
        """Units that are averaged together: the same threads and size."""
        return list(dict.fromkeys((u.threads, u.size) for u in self.units))

    def _means(self, timed, ratios):
        """Geometric means; the parts' noises are taken as independent."""
        rows = []
        for threads, size in self._groups():
            units = [u for u in self.units if (u.threads, u.size) == (threads, size)]
            noises = [n for n in map(self.noise, units) if n is not None]
            middle = math.sqrt(sum(n * n for n in noises) / len(noises)) if noises else None
            empty = [""] * len(timed)
            row = ["geometric mean", str(threads), size, *empty, _number(100 * middle if noises else None, 1), *empty]
            for _, function in ratios:
                pairs = [p for p in map(function, units) if p[0] is not None]
                mean = _geometric([max(v, _LEAST) for v, _ in pairs])
                part = math.sqrt(sum((n / v) ** 2 for v, n in pairs if v)) / len(pairs) if pairs else 0
                row += [_number(mean, 3), _number(mean * part if mean else None, 3)]
            row += [_number(_geometric([self.single_ratio(u, w.name) for u in units]), 1) for w in self.single]
            rows.append(row)
        return rows

    def _results(self, tools):
        ours = self._ours()
        header, rows = self._table()
        gate = [h for h in header if not h.startswith(NOISE) and NOISE + h in header and any(h.startswith(f"{n}/") or h.startswith(f"{n} ")
                                                                                              for n in ours)]
        results = Results("speed", tools, gate)
        results.tables = {"": (header, rows)}
        results.failed = bool(self.problems)
        results.text = self._text(header, rows)
        return results

    def _text(self, header, rows):
        def part(title, names):
            chosen = [header.index(n) for n in names if n in header]
            keys = [0, 1, 2] if self.opts.full else [0]
            short = [header[i].replace(" at test size", "").replace("/native", " x").replace("/tsan added", "") for i in keys + chosen]
            return [title, table.text(short, [[r[i] for i in keys + chosen] for r in rows]), ""]
        plain = [h for h in header if not h.startswith(NOISE)]
        cpu = [h for h in plain if h.endswith(" s") or h == "noise %" or (h.endswith("/native") and " peak" not in h) or "added" in h]
        size = "test" if self.opts.size == "test" else "full"
        lines = part(f"User+system CPU seconds, {size} size, least of {self.opts.rounds} taken in turns"
                     f"{'' if self.opts.full else ', 2 threads'}; x: times native; added: of what TSan adds; noise: native against itself", cpu)
        lines += part("Peak memory", [h for h in plain if h.endswith(" MB") or " peak/" in h])
        if self.single:
            lines += part("Once at test size, 2 threads: times native", [f"{w.name}/native at test size" for w in self.single])
        if self.opts.full:
            lines += self._growth()
        if self.problems:
            lines += [f"Not measured ({len(self.problems)})", *(f"{who}: {why}" for who, why in self.problems)]
        return "\n".join(lines).rstrip() + "\n"

    def _growth(self):
        """How a ratio moves with size and with threads: above 1, the tool's cost grows faster than the program's."""
        header, rows = ["program", "tool", "least to largest size", "1 to 4 threads"], []
        for name in dict.fromkeys(u.name for u in self.units):
            mine = [u for u in self.units if u.name == name]
            for way in self.tools:
                sizes = [self.ratio(u, way.name)[0] for u in mine if u.threads == 2]
                threads = {u.threads: self.ratio(u, way.name)[0] for u in mine if u.size == "full"}
                one, four = threads.get(1), threads.get(4)
                rows.append([name, way.name, _number(sizes[-1] / sizes[0]) if len(sizes) > 1 and sizes[0] and sizes[-1] else "",
                             _number(four / one) if one and four else ""])
        return ["Growth of the ratio to native (1.00: as the program itself)", table.text(header, rows), ""]

    def series(self):
        """(groups, {tool: ratios}, {tool: added}) for the chart: two threads, full size."""
        units = [u for u in self.units if u.threads == 2 and u.size in ("full", "test")]
        def with_mean(values):
            return [*values, _geometric([max(v, _LEAST) for v in values if v is not None])]
        ratios = {w.name: with_mean([self.ratio(u, w.name)[0] for u in units]) for w in self.tools}
        ratios.update({w.name: with_mean([self.single_ratio(u, w.name) for u in units]) for w in self.single})
        has_tsan = any(w.name == "tsan" for w in self.tools)
        added = {n: with_mean([self.added(u, n)[0] for u in units]) for n in self._ours()} if has_tsan else {}
        return [*(u.name for u in units), "geometric mean"], ratios, added
