"""What the benches share on their command lines, and their orderly end."""
import signal
import subprocess
import sys
from pathlib import Path

from .results import BENCH, say
from .state import default_cache

EXIT_MEASURED, EXIT_PARTLY, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130


def add_common(parser):
    parser.add_argument("build", metavar="BUILD", help="build directory of deadheat")
    parser.add_argument("names", metavar="NAME", nargs="*", help="only these workloads (default: all)")
    parser.add_argument("--workloads", default=str(BENCH.parent / "workloads"), metavar="DIR", help="default: the project's")
    parser.add_argument("--cache", default=default_cache(), metavar="DIR", help="default: %(default)s")
    parser.add_argument("--reuse", action="store_true", help="take what earlier runs measured where nothing changed")
    parser.add_argument("--again", action="store_true", help="do not go on with an interrupted run")
    parser.add_argument("--no-packages", action="store_true", help="do not try to install missing packages")
    parser.add_argument("--save", action="store_true", help="keep the tables and the chart in bench/results, dated")


def prepare(opts):
    """Missing packages are a reason in a cell, not an end."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda n, _: sys.exit(128 + n))
    if not opts.no_packages:
        subprocess.run([BENCH.parent / "tools" / "install-packages", BENCH / "packages.txt"], check=False)
    home = Path(opts.cache) / opts.bench
    if opts.again:
        (home / "unfinished").unlink(missing_ok=True)
    return home


def guarded(main):
    """Runs main; an interruption says how to go on."""
    try:
        return main()
    except KeyboardInterrupt:
        say("interrupted; the same command goes on from here")
        return EXIT_INTERRUPTED
