"""The three tables: what works, what linking costs, what empty hooks cost."""
import dataclasses

from . import table
from .bench import say, timed
from .proc import Failure
from .program import Build, Runner

REAL = ["program", "run as", "configure", "build", "wall s", "CPU s", "x clang", "described", "drives", "drive s"]


class Report:
    """Rows of one table, and the full reasons of what failed below it."""

    def __init__(self, title, header):
        self.title, self.header, self.rows, self.notes, self.failed = title, header, [], [], False

    def note(self, who, text, failure=True):
        self.notes.append(f"{who}: {text}")
        self.failed |= failure
        say(f"{who}: {text}")

    def text(self):
        out = f"{self.title}\n\n{table.text(self.header, self.rows)}\n"
        return out + ("\n" + "\n".join(self.notes) + "\n" if self.notes else "")


def _seconds(x):
    return f"{x:.2f}"


def _ratio(x, base):
    return f"{x / base:.2f}x" if base else "-"


class Real:
    """Does every program in every way; a failure fills its cell and the rest goes on. Yardsticks other than
    deadheat (TSan) are shown, but only clang and deadheat decide the exit code."""

    def __init__(self, bench, tools):
        self.bench, self.tools = bench, tools
        self.report = Report("Real programs: configured, built and driven", REAL)

    def run(self, programs):
        for program in programs:
            plain, plain_seen = None, None
            for tool in self.tools:
                counts = tool.name in ("clang", "deadheat")
                built = self._build(program, tool, plain, counts)
                if tool.name == "clang":
                    plain = built
                for i, mode in enumerate(tool.modes):
                    seen = self._drive(program, tool, mode, built, plain, plain_seen, counts, first=i == 0)
                    if tool.name == "clang":
                        plain_seen = seen
        return self.report

    def _build(self, program, tool, plain, counts):
        who = f"{program.name}, {tool.name}"
        try:
            built = self.bench.built(program, tool)
        except Failure as e:
            self.report.note(who, e, counts)
            return None
        built["same"] = self._same_configuration(program, tool, plain, who, counts)
        built["described"] = "-"
        if plain and tool.name != "clang":
            self._same_exports(program, tool, who, counts)
        if tool.name == "deadheat":
            try:
                built["described"] = self.bench.described(program, tool)
            except Failure as e:
                self.report.note(who, e)
        return built

    def _same_configuration(self, program, tool, plain, who, counts):
        found = self.bench.configuration(program, tool)
        if not found:
            return "none"
        if tool.name == "clang":
            return f"{len(found)} values"
        if not plain:
            return "?"
        lines = self.bench.differences(program, self.tools[0], tool)
        for line in lines[:20]:
            self.report.note(f"{who}: configuration (clang | {tool.name})", line, counts)
        return f"{len(lines)} differ" if lines else "equal"

    def _same_exports(self, program, tool, who, counts):
        try:
            plain, mine = (self.bench.exports_of(program, t) for t in (self.tools[0], tool))
        except Failure as e:
            self.report.note(who, e, counts)
            return
        for lib in program.libraries:
            missing = sorted(plain[lib] - mine[lib])
            extra = sorted(s for s in mine[lib] - plain[lib] if not s.startswith("__dh_"))
            if missing or extra:
                self.report.note(who, f"{lib}: exports {len(missing)} fewer ({', '.join(missing[:5])}) and "
                                      f"{len(extra)} more ({', '.join(extra[:5])})", counts)

    def _drive(self, program, tool, mode, built, plain, plain_seen, counts, first):
        row = [program.name, mode.name, "", "", "", "", "", "", "-", ""]
        self.report.rows.append(row)
        if not built:
            row[3] = "FAILED" if first else ""
            return None
        if first:
            wall, cpu = built["build"]
            row[2:8] = [built["same"], "ok", _seconds(wall), _seconds(cpu),
                        _ratio(cpu, plain["build"][1]) if plain else "-", built["described"]]
        try:
            done = self.bench.driven(program, tool, mode)
            if done.get("derive"):
                row[3:6] = ["derived", *map(_seconds, done["derive"])]
            if plain_seen is not None:
                program.compare(plain_seen, done["seen"])
            elif tool.name != "clang":
                raise Failure("ran, but there is no result of the plain build to compare with")
            row[8:10] = [f"ok {program.summary(done['seen'])}".strip(), _seconds(done["wall"])]
            return done["seen"]
        except Failure as e:
            row[8] = "FAILED"
            self.report.note(f"{program.name}, {mode.name}", e, counts)
            return None


def _minimum(usages):
    return [min(u[i] for u in usages) for i in (0, 1)]


class LinkCost:
    """Whole build and relink of a program with each tool, taken in turns; the first tool is the yardstick."""

    def __init__(self, bench, tools, rounds):
        self.bench, self.rounds = bench, rounds
        self.tools = [dataclasses.replace(t, name=f"cost-{t.name}") for t in tools]
        header = ["program", "step", "tool", "wall s", "CPU s", "wall ratio", "CPU ratio"]
        self.report = Report(f"Compile and link time, least of {rounds}, make -j{bench.jobs}", header)

    def _once(self, program, tool):
        place = Build(self.bench, program, tool)
        place.copy(self.bench.source(program)[0])
        place.log("build").unlink(missing_ok=True)
        program.configure(place)
        build = timed(lambda: program.build(place))
        for name in program.executables:
            (place.dir / name).unlink()
        return {"build": build, "relink": timed(lambda: program.build(place))}

    def run(self, programs):
        for program in programs:
            times = {}
            for n in range(self.rounds):
                for tool in self.tools:
                    say(f"{program.name}: {tool.cc}: round {n + 1} of {self.rounds}")
                    try:
                        for step, use in self._once(program, tool).items():
                            times.setdefault((step, tool.name), []).append(use)
                    except Failure as e:
                        self.report.note(f"{program.name}, {tool.cc}", e)
            self._rows(program, times)
        return self.report

    def _rows(self, program, times):
        for step in ("build", "relink"):
            base = times.get((step, self.tools[0].name))
            for tool in self.tools:
                mine = times.get((step, tool.name))
                if not mine:
                    self.report.rows.append([program.name, step, tool.cc, "FAILED", "-", "-", "-"])
                    continue
                use = _minimum(mine)
                ratios = [_ratio(u, b) for u, b in zip(use, _minimum(base))] if base else ["-", "-"]
                self.report.rows.append([program.name, step, tool.cc, *map(_seconds, use), *ratios])


class HookCost:
    """CPU time of each workload in each mode, taken in turns; least of several rounds."""

    def __init__(self, bench, tools, rounds):
        self.bench, self.tools, self.rounds = bench, tools, rounds
        self.modes = [(t, m) for t in tools for m in t.modes]
        names = [m.name for _, m in self.modes]
        header = ["workload", *(f"{n} s" for n in names), *(f"{n}/{names[0]}" for n in names[1:])]
        self.report = Report(f"Cost of hooks: user+system CPU seconds, least of {rounds} taken in turns; tsan with reports off", header)

    def run(self, programs):
        for program in programs:
            cases = program.costs()
            if not cases:
                continue
            usable = [(t, m) for t, m in self.modes if self._ready(program, t, m)]
            for name, case in cases:
                self._measure(program, f"{program.name} {name}".strip(), case, usable)
        return self.report

    def _ready(self, program, tool, mode):
        try:
            self.bench.built(program, tool)
            if mode.derives:
                self.bench.derived(program, tool, mode)
            return True
        except Failure as e:
            self.report.note(f"{program.name}, {mode.name}", e)
            return False

    def _measure(self, program, name, case, usable):
        best = {}
        for n in range(self.rounds):
            say(f"{name}: round {n + 1} of {self.rounds}")
            for tool, mode in list(usable):
                try:
                    cpu = case(Runner(self.bench, program, tool, mode))
                    best[mode.name] = min(cpu, best.get(mode.name, cpu))
                except Failure as e:
                    self.report.note(f"{name}, {mode.name}", e)
                    usable = [u for u in usable if u != (tool, mode)]
                    best.pop(mode.name, None)
        names = [m.name for _, m in self.modes]
        base = best.get(names[0])
        seconds = [_seconds(best[n]) if n in best else "FAILED" for n in names]
        ratios = [_ratio(best[n], base) if n in best and base else "-" for n in names[1:]]
        self.report.rows.append([name, *seconds, *ratios])
