"""Reports against the truth. A report is a true positive when its kind fits a defect's and either its two places are one of the
defect's pairs, or it names the defect's variable in the defect's file; everything else is a false positive. Of several variables that
belong together (views, the locks of a deadlock) two are enough, or the one that the truth names."""
import dataclasses
import re

# Which kinds of reports may stand for a defect of a kind. A race is no excuse for an atomicity violation on locked data.
FITS = {"race": {"race", "atomicity", "use-after-free"}, "atomicity": {"atomicity", "view"}, "view": {"view", "atomicity"},
        "deadlock": {"deadlock"}, "critical-wait": {"critical-wait"}, "indefinite-wait": {"indefinite-wait", "lost-wakeup"}}
JUDGED = set().union(*FITS.values())  # reports of other kinds (misused calls, leaked threads) have no truth to be held against


def _plain(name):
    """Without 'struct', indices and scopes."""
    name = re.sub(r"\[[^\]]*\]", "[]", re.sub(r"^(struct|class|union) ", "", name.strip()))
    return name.rpartition("::")[2]


def _names(text):
    """Of '{a, b}' or 'a, b' both; what stands in brackets is not taken apart."""
    names = re.split(r",\s*(?![^(<\[]*[)>\]])", text.strip().removeprefix("{").removesuffix("}"))
    return {_plain(n).removesuffix("[]") for n in names} - {""}


def _same_name(report, defect):
    mine, truth = _names(report.variable), _names(defect.variable)
    common = len(mine & truth)
    return common > 0 and common >= min(2, len(truth))


def _same_object(report, defect):
    """The tool names the whole global (a static local as function.name), the truth one field of it."""
    if not (report.whole and report.variable) or re.match(r"struct |class |union |\*", defect.variable):
        return False
    top = re.split(r"[.\[]", _plain(defect.variable))[0]
    return top in (_plain(report.variable), report.variable.rpartition(".")[2])


def _same_places(report, defect):
    mine = [tuple(p) for p in report.lines]
    if not mine:
        return False
    if report.kind not in ("race", "use-after-free"):
        return any(a in mine and b in mine for a, b in defect.pairs)
    if len(mine) == 1:  # drd shows one of the two accesses; TSan loses a stack at times
        return any(mine[0] in pair for pair in defect.pairs)
    return any(sorted(mine[:2]) == sorted(pair) for pair in defect.pairs)


def _in_file(report, defect):
    return not report.lines or any(p[0] in defect.files for p in report.lines)


def fitting(report, defects):
    """The defects a report may stand for: by name when that decides, else by places, else by the object's name alone."""
    able = [d for d in defects if report.kind in FITS[d.kind]]
    same_kind = [d for d in able if d.kind == report.kind]
    return _fitting_of(report, same_kind) or _fitting_of(report, able)


def _fitting_of(report, defects):
    named = [d for d in defects if _in_file(report, d) and _same_name(report, d)]
    placed = [d for d in defects if _same_places(report, d)]
    both = [d for d in placed if d in named] or [d for d in placed if _same_object(report, d)]
    if both or named or placed:
        return both or named or placed
    whole = [d for d in defects if _in_file(report, d) and _same_object(report, d)]
    return whole if len(whole) == 1 else []


def judge(reports, defects):
    """({defect found: its reports}, false reports) of one run; a report that fits several stands for one not found yet."""
    found, false = {}, []
    for report in sorted((r for r in reports if r.kind in JUDGED), key=lambda r: len(fitting(r, defects))):
        fits = fitting(report, defects)
        if fits:
            found.setdefault(next((d for d in fits if d not in found), fits[0]), []).append(report)
        else:
            false.append(report)
    return found, false


def _false_key(report):
    """Equal false reports of several runs count once: by variable when it is named, else by places."""
    return (report.kind, report.variable or tuple(sorted(map(tuple, report.lines))) or report.said)


@dataclasses.dataclass
class Score:
    """Of one case and tool."""
    claimed: list  # defects of kinds the tool claims
    runs: int = 0
    hits: dict = dataclasses.field(default_factory=dict)  # defect -> in how many runs
    false: dict = dataclasses.field(default_factory=dict)  # key -> [report, {of the program, of the twin}]
    by: dict = dataclasses.field(default_factory=dict)  # what the tool called itself (a detector) -> defects it named

    def add(self, reports, defects, twin=False):
        found, false = judge(reports, [] if twin else defects)
        if not twin:
            self.runs += 1
        for defect, named in found.items():
            self.hits[defect] = self.hits.get(defect, 0) + 1
            for report in named:
                self.by.setdefault(report.said, set()).add(defect)
        for report in false:
            self.false.setdefault(_false_key(report), [report, set()])[1].add("twin" if twin else "program")

    @property
    def tp(self):
        return len(self.hits)

    @property
    def missed(self):
        return [d for d in self.claimed if d not in self.hits]

    @property
    def unsure(self):
        """Defects that only some of the runs showed: the noise of tp and misses."""
        return sum(0 < n < self.runs for n in self.hits.values())
