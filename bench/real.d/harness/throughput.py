"""Throughput of real programs under every tool, in turns, and what the tools find in them meanwhile. Throughput is measured with reports
off, because printing them is a cost of its own; findings come from one more run of each load with reports on."""
import dataclasses
import math
import re
import shutil
import sys
from pathlib import Path

from . import peers, table, tool
from .bench import say
from .proc import Failure
from .program import Runner
from .reports import Report
from .results import NOISE, Results
from .speed import ways
from .state import digest

_WORDS = 80
_SHOWN = 6  # findings of a program in the text; all are in the table of their own
_SOURCES = {".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp"}
_QUIET = "report_bugs=0:exitcode=0"
_FOUND_SOMETHING = 66  # deadheat's exit code


@dataclasses.dataclass(frozen=True)
class Unit:
    """A row: a program under one load."""
    program: object
    load: object

    @property
    def title(self):
        return f"{self.program.name}, {self.load.name}"


def compilers(tools, build, cache):
    """{tool: what builds for it}; a missing one has none."""
    makers = {"native": tool.clang, "deadheat": lambda: tool.deadheat(build, cache, ()), "tsan": tool.tsan, "gcc-tsan": tool.gcc_tsan,
              "helgrind": tool.valgrind, "drd": tool.valgrind}
    return {p.name: makers[p.name]() for p in tools if not p.missing}


class Sample:
    """Of one way under one load: the best rate, and how far the next best was."""

    def __init__(self, rates):
        best = sorted(rates, reverse=True)
        self.rate = best[0]
        self.spread = 1 - best[1] / best[0] if len(best) > 1 else 0.0


def _geometric(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def _number(value, digits=3):
    return "" if value is None else f"{value:.{digits}f}"


def _rate(value):
    return _number(value, 0 if value >= 1000 else 1 if value >= 100 else 2)


class Throughput:
    def __init__(self, bench, state, tools, opts):
        self.bench, self.state, self.tools, self.opts = bench, state, tools, opts
        self.compilers = compilers(tools, opts.build, bench.cache)
        self.turns = [w for w in ways(tools, opts.deadheat_variants) if not w.once]
        self.shown = [w for w in self.turns if w.peer.name != "native"]
        self.again = [w.name for w in self.turns if w.peer.name == "native"][-1]  # native a second time: what differs is noise
        self.finders = [p for p in tools if p.name != "native"]
        self.units, self.samples, self.reasons, self.found = [], {}, {}, {}
        self.problems, self.notes, self._ready = [], [], {}
        home = Path(__file__).parent
        self._code = digest(*((home / f).read_text() for f in ("throughput.py", "program.py")))

    def run(self, programs):
        self.units = [Unit(p, load) for p in programs for load in p.loads()]
        self.problems += [(p.name, f"missing: {p.missing}") for p in self.tools if p.missing]
        self.notes += [f"{p.name}: {p.note}" for p in self.finders if p.note]
        for n, unit in enumerate(self.units, 1):
            self._measure(unit, f"[{n}/{len(self.units)}]")
        for n, unit in enumerate(self.units, 1):
            self._find(unit, f"[{n}/{len(self.units)}]")
        return self._results()

    # Preparing

    def _fail(self, unit, name, why):
        word = "hang" if "no end within" in why or "does not end" in why else "not built" if why.startswith("not built") else "failed"
        self.reasons[unit, name] = word
        if (f"{unit.title}, {name}", why) not in self.problems:
            self.problems.append((f"{unit.title}, {name}", why))
            say(f"{unit.title}: {name}: {why}")

    def _built(self, program, peer):
        """Builds once; raises the same Failure again for every load."""
        if peer.missing:
            raise Failure(f"missing: {peer.missing}")
        compiler = self.compilers[peer.name]
        key = program.name, compiler.name
        if key not in self._ready:
            try:
                self.bench.built(program, compiler)
                self._ready[key] = None
            except Failure as e:
                self._ready[key] = f"not built: {e}"
        if self._ready[key]:
            raise Failure(self._ready[key])
        return compiler

    def _derive(self, program, compiler, mode):
        key = program.name, mode.name
        if mode.derives and key not in self._ready:
            self.bench.derived(program, compiler, mode)
            self._ready[key] = None

    def _mode(self, way):
        """Of a run whose throughput counts."""
        if isinstance(way.peer, peers.TSan):
            return tool.Mode(way.name, ("setarch", "-R") if way.peer.no_aslr else (), (("TSAN_OPTIONS", _QUIET),))
        return tool.Mode(way.name, way.prefix, derives=way.prefix[:2] == ("deadheat", "run"))

    def _runner(self, program, compiler, mode):
        runner = Runner(self.bench, program, compiler, mode)
        runner.codes = (0, _FOUND_SOMETHING) if compiler.name == "deadheat" else (0,)
        return runner

    def _bearing_aslr(self, peer, work, said):
        """Once more without address randomisation when that is what a TSan died of, as said() tells."""
        try:
            return work()
        except Failure:
            if not isinstance(peer, peers.TSan) or peer.no_aslr or "unexpected memory mapping" not in said():
                raise
        peer.no_aslr = True
        self.notes.append(f"{peer.name}: run under 'setarch -R': it does not bear this kernel's address randomisation")
        return work()

    def _key(self, unit, compiler, *parts):
        recipe = Path(sys.modules[type(unit.program).__module__].__file__).read_text()
        return digest(self._code, unit.program.name, recipe, self.bench.source(unit.program)[1], compiler.key, unit.load.name, *parts)

    # Throughput

    def _measure(self, unit, progress):
        usable = []
        for way in self.turns:
            try:
                self._derive(unit.program, self._built(unit.program, way.peer), self._mode(way))
                usable.append(way)
            except Failure as e:
                self._unusable(unit, way, str(e))
        taken = {way: [] for way in usable}
        for n in range(self.opts.rounds):
            start = n % len(usable) if usable else 0
            for way in usable[start:] + usable[:start]:
                if way in taken:
                    self._turn(unit, way, n, progress, taken)
        for way, records in taken.items():
            self.samples[unit, way.name] = Sample([r["rate"] for r in records])
        self._same_result(unit, taken)

    def _unusable(self, unit, way, why):
        if way.peer.missing:
            self.reasons[unit, way.name] = "missing"
        else:
            self._fail(unit, way.name, why)

    def _turn(self, unit, way, n, progress, taken):
        compiler = self.compilers[way.peer.name]
        key = self._key(unit, compiler, "rate", way.name, unit.load.amount, n)
        known = self.state.get(key)
        say(f"{progress} {unit.title}: round {n + 1} of {self.opts.rounds}: {way.name}{' (known)' if known else ''}")
        try:
            taken[way].append(known or self.state.put(key, self._once(unit, way, compiler)))
        except (Failure, OSError) as e:
            self._fail(unit, way.name, str(e))
            del taken[way]

    def _once(self, unit, way, compiler):
        log = None

        def work():
            nonlocal log
            runner = self._runner(unit.program, compiler, self._mode(way))
            log = runner.out
            return unit.load.use(runner, unit.load.amount)
        rate, seen = self._bearing_aslr(way.peer, work, lambda: log.read_text(errors="replace"))
        return {"rate": rate, "seen": seen}

    def _same_result(self, unit, taken):
        """A tool under which the program does something else has no throughput."""
        plain = next((records[0]["seen"] for way, records in taken.items() if way.name == "native" and records), None)
        for way, records in taken.items():
            if plain is not None and any(r["seen"] != plain for r in records):
                del self.samples[unit, way.name]
                self._fail(unit, way.name, "what came out is not what comes out of the plain build")

    # Findings

    def _find(self, unit, progress):
        for peer in self.finders:
            if peer.missing or peer.note:
                continue
            try:
                compiler = self._built(unit.program, peer)
            except Failure as e:
                self._fail(unit, f"{peer.name} findings", str(e))
                continue
            amount = unit.load.small if isinstance(peer, peers.Valgrind) else unit.load.amount
            key = self._key(unit, compiler, "findings", peer.key, peer.name, amount)
            known = self.state.get(key)
            say(f"{progress} {unit.title}: findings: {peer.name}{' (known)' if known else ''}")
            record = known or self._found(unit, peer, compiler, amount)
            if record["why"]:
                self._fail(unit, f"{peer.name} findings", record["why"])
            elif not known:
                self.state.put(key, record)
            self.found[unit, peer.name] = [Report(**r) for r in record["reports"]]

    def _found(self, unit, peer, compiler, amount):
        """One run with reports on; what was reported before a run failed counts too."""
        home, why = self.bench.cache / "found" / re.sub(r"\W+", "-", f"{unit.title} {peer.name}"), ""
        out, said = home / "found", lambda: "".join(p.read_text(errors="replace") for p in home.iterdir())

        def work():
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir(parents=True)
            argv, env = peer.call("PROGRAM", [], out)
            mode = tool.Mode(f"{peer.name} findings", tuple(argv[:-1]), tuple(env.items()))
            return unit.load.use(self._runner(unit.program, compiler, mode), amount)
        try:
            self._bearing_aslr(peer, work, said)
        except (Failure, OSError) as e:
            why = str(e)
        try:
            reports = peer.read(out, self._own_files(unit.program), compiler.environment(self.bench.env))
        except (Failure, OSError) as e:
            reports, why = [], why or str(e)
        return {"why": why, "reports": [r.record() for r in reports]}

    def _own_files(self, program):
        return {p.name for p in self.bench.source(program)[0].rglob("*") if p.suffix in _SOURCES}

    def distinct(self, program):
        """{(kind, places, ""): (variables, words, {tool: reports})}: the same pair of places is the same finding, whoever reports it."""
        merged = {}
        for (unit, name), reports in self.found.items():
            for r in reports if unit.program is program else ():
                places = tuple(sorted(f"{f}:{n}" for f, n in r.lines))
                words = re.sub(r"0x[0-9A-Fa-f]+|#\d+", "..", r.said)  # of this run only
                variables, said, counts = merged.setdefault((r.kind, places, "" if places else words or r.variable), (set(), set(), {}))
                variables.update([r.variable] if r.variable else [])
                said.update([words] if words else [])
                counts[name] = counts.get(name, 0) + 1
        return merged

    def counts(self, program, name):
        """{kind: distinct findings} of a tool; None when it has nothing to say."""
        if not any(u.program is program and n == name for u, n in self.found):
            return None
        kinds = {}
        for (kind, _, _), (_, _, by) in self.distinct(program).items():
            if name in by:
                kinds[kind] = kinds.get(kind, 0) + 1
        return kinds

    def _count_cell(self, program, peer):
        if peer.missing:
            return "missing"
        words = {self.reasons[u, n] for u, n in self.reasons if u.program is program and n == f"{peer.name} findings"}
        kinds = self.counts(program, peer.name)
        if kinds is None:
            return ", ".join(sorted(words))
        others = [f"{n} {kind}" for kind, n in sorted(kinds.items()) if kind != "race"]
        return " + ".join([str(kinds.get("race", 0)), *others]) + (f" ({', '.join(sorted(words))})" if words else "")

    # Ratios

    def noise(self, unit):
        """Native against itself."""
        a, b = self.samples.get((unit, "native")), self.samples.get((unit, self.again))
        return abs(a.rate / b.rate - 1) if a and b else None

    def kept(self, unit, name):
        mine, native = self.samples.get((unit, name)), self.samples.get((unit, "native"))
        return mine.rate / native.rate if mine and native else None

    def slower(self, unit, name):
        """(native/tool, its noise): native against itself, or the distance of either's best to its second best."""
        kept = self.kept(unit, name)
        if not kept:
            return None, None
        spread = max(self.noise(unit) or 0, self.samples[unit, name].spread, self.samples[unit, "native"].spread)
        return 1 / kept, spread / kept

    # Tables

    def _cell(self, unit, name):
        sample = self.samples.get((unit, name))
        return _rate(sample.rate) if sample else self.reasons.get((unit, name), "")

    def _table(self):
        names = [w.name for w in self.shown]
        header = ["program", "workload", "unit", "native", *names, "noise %", *(f"{n} kept" for n in names)]
        for name in names:
            header += [f"native/{name}", f"{NOISE}native/{name}"]
        rows = []
        for unit in self.units:
            noise = self.noise(unit)
            row = [unit.program.name, unit.load.name, unit.load.unit, *(self._cell(unit, n) for n in ("native", *names)),
                   _number(100 * noise if noise is not None else None, 1), *(_number(self.kept(unit, n)) for n in names)]
            for name in names:
                row += [_number(v) for v in self.slower(unit, name)]
            rows.append(row)
        return header, rows + ([self._mean(names)] if len(self.units) > 1 else [])

    def _mean(self, names):
        """Geometric; the parts' noises are taken as independent."""
        row = ["geometric mean", "", "", "", *("" for _ in names), ""]
        row += [_number(self.mean_kept(n)) for n in names]
        for name in names:
            pairs = [p for p in (self.slower(u, name) for u in self.units) if p[0]]
            mean = _geometric([v for v, _ in pairs])
            part = math.sqrt(sum((n / v) ** 2 for v, n in pairs)) / len(pairs) if pairs else 0
            row += [_number(mean), _number(mean * part if mean else None)]
        return row

    def mean_kept(self, name):
        return _geometric([v for v in (self.kept(u, name) for u in self.units) if v])

    def programs(self):
        return list(dict.fromkeys(u.program for u in self.units))

    def _count_table(self):
        return ["program", *(p.name for p in self.finders)], [[p.name, *(self._count_cell(p, f) for f in self.finders)] for p in self.programs()]

    def _finding_table(self):
        header = ["program", "kind", "places", "variable", "words", *(p.name for p in self.finders)]
        rows = []
        for program in self.programs():
            found = self.distinct(program)
            # What most tools agree on comes first.
            for (kind, places, _), (variables, words, by) in sorted(found.items(), key=lambda e: (-len(e[1][2]), e[0])):
                rows.append([program.name, kind, " / ".join(places) or "no line of the program", ", ".join(sorted(variables)), "; ".join(sorted(words)),
                             *(str(by.get(p.name, "")) for p in self.finders)])
        return header, rows

    def _results(self):
        ours = [w.name for w in self.shown if w.peer.name == "deadheat"]
        results = Results("real", self.tools, [f"native/{n}" for n in ours])
        results.tables = {"": self._table(), "-counts": self._count_table(), "-findings": self._finding_table()}
        results.failed = bool(self.problems)
        results.text = self._text(results.tables)
        return results

    def _text(self, tables):
        header, rows = tables[""]
        chosen = [i for i, h in enumerate(header) if not h.startswith(NOISE) and not h.startswith("native/")]
        parts = [f"Throughput, best of {self.opts.rounds} taken in turns, reports off; kept: of native; noise: native against itself",
                 table.text([header[i] for i in chosen], [[r[i] for i in chosen] for r in rows])]
        if self.finders:
            parts += ["\nFindings: races at distinct pairs of places + other reports (helgrind and drd: a small load); an empty cell: not "
                      "asked for or nothing to say yet", table.text(*tables["-counts"])]
            parts += self._finding_text(*tables["-findings"])
        if self.problems:
            parts += [f"\nNot measured ({len(self.problems)})", *(f"{who}: {why}" for who, why in self.problems)]
        if self.notes:
            parts += ["\nNotes", *self.notes]
        return "\n".join(parts) + "\n"

    def _finding_text(self, header, rows):
        """All of deadheat's and the first few others of each program."""
        column = header.index("deadheat") if "deadheat" in header else None
        lines, left = [], 0
        for program in self.programs():
            mine = [r for r in rows if r[0] == program.name]
            for n, row in enumerate(mine):
                if n < _SHOWN or (column and row[column]):
                    by = ", ".join(h for h, cell in zip(header[5:], row[5:]) if cell)
                    lines.append(f"{row[0]}: {row[1]} at {row[2]}" + (f" on {row[3]}" if row[3] else "") +
                                 (f" ({row[4][:_WORDS]})" if row[4] else "") + f": {by}")
                else:
                    left += 1
        return [f"\nWhat was found ({len(rows)})", *lines, *([f"{left} more in real-findings.tsv"] if left else [])] if rows else []

    def series(self):
        """(loads, {way: kept}, programs, {tool: races}) for the chart."""
        groups = [f"{u.program.name}\n{u.load.name}" for u in self.units]
        kept = {w.name: [*(self.kept(u, w.name) for u in self.units), self.mean_kept(w.name)] for w in self.shown}
        programs = self.programs()
        races = {p.name: [sum((self.counts(x, p.name) or {}).values()) if self.counts(x, p.name) is not None else None for x in programs]
                 for p in self.finders}
        return [*groups, "geometric\nmean"], kept, [p.name for p in programs], races
