"""Where things are. All that is built or written is below OUTPUT."""
import pathlib

BENCH = pathlib.Path(__file__).resolve().parent.parent
CHECKOUT = BENCH.parent.parent
OUTPUT = CHECKOUT / "build" / "bench"
SCRATCH = OUTPUT / "scratch"
