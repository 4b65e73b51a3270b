"""Tables of von Praun's dissertation: its numbers (bench/static.d/thesis.tsv), and ours beside them."""
from pathlib import Path

# Ours -> theirs. The largest two are ours in name and structure only.
PROGRAMS = {"philo": "philo", "elevator": "elevator", "mtrt": "mtrt", "sor": "sor", "tsp": "tsp", "hedc": "hedc", "moldyn": "mold", "raytracer": "ray",
            "montecarlo": "monte", "warehouse": "specjbb", "webserver": "jigsaw"}
_THEIRS = Path(__file__).resolve().parent.parent / "static.d" / "thesis.tsv"


def theirs():
    """{(table, program): [cells]}"""
    found = {}
    for line in _THEIRS.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, program, *cells = line.split("\t")
            found[name, program] = cells
    return found


def rows_of(name, measure, runs, thesis):
    """A row for each program that ran: our cells, the dissertation's in brackets behind those that it has, too."""
    for ours, their in PROGRAMS.items():
        if ours in runs:
            mine = [str(c) for c in measure(runs[ours])]
            old = thesis.get((name, their), [])
            yield [ours, *(f"{m} ({old[n]})" if n < len(old) else m for n, m in enumerate(mine))]


def percent(part, whole):
    """As the dissertation prints shares."""
    if not whole:
        return "-"
    share = 100 * part / whole
    return "< 0.1" if part and share < 0.1 else f"{share:.1f}"
