"""Runs all benchmarks: ratios of one run, absolutes beside them; fails on a missed bound."""

import subprocess
import sys
from pathlib import Path

SCRIPTS = ("bench_world.py", "bench_step.py")


def main() -> int:
    """Run each script; return 1 if one of them missed a bound."""
    folder = Path(__file__).parent
    statuses = []
    for script in SCRIPTS:
        print(f"== {script}", flush=True)
        statuses.append(subprocess.run([sys.executable, folder / script]).returncode)
    return int(any(statuses))


if __name__ == "__main__":
    sys.exit(main())
