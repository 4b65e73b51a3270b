"""What bench/detect, bench/speed and bench/compare share: workloads, tools, reports, matching, state, tables, charts.

The modules of real.d/harness (proc, table, tool) belong to this package as well, so nothing of them is written twice."""
from pathlib import Path

__path__.append(str(Path(__file__).resolve().parent.parent / "real.d" / "harness"))
