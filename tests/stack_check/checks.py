"""Reads what the checking agent left behind: see check_file.h, whose layout this is."""
import dataclasses
import pathlib
import struct
import subprocess

KINDS = ("none", "other_frame", "goes_on", "ends_early", "not_reached")
ENDS = ("outermost", "depth_limit", "no_unwind_info", "bad_unwind_info", "unreadable_stack",
        "not_a_stack", "table_full", "not_taken")
COUNTS = struct.Struct(f"<6Q{len(ENDS)}Q")
PLACE = struct.Struct("<QII3Q192s192s192s")
MAX_PLACES = 256


@dataclasses.dataclass(frozen=True)
class Frame:
    """A frame by its function, or by its place where it has no name."""
    function: str
    module: str

    def __str__(self) -> str:
        return f"{self.function} ({self.module})" if self.function else "nothing"


@dataclasses.dataclass(frozen=True)
class Place:
    kind: str  # how the told stack differs from libunwind's
    to_libgccs: str
    agreed: Frame
    told: Frame
    other: Frame

    def __str__(self) -> str:
        return (f"{self.kind} (to libgcc's: {self.to_libgccs}) after {self.agreed}: "
                f"told {self.told}, libunwind's {self.other}")


@dataclasses.dataclass
class Checks:
    """Of one image, or the sum of several."""
    compared: int = 0
    equal: int = 0
    by_libgcc_alone: int = 0
    frames: int = 0
    unplaced: int = 0
    ends: dict[str, int] = dataclasses.field(default_factory=lambda: dict.fromkeys(ENDS, 0))
    places: dict[Place, int] = dataclasses.field(default_factory=dict)

    def add(self, other: "Checks") -> None:
        for name in ("compared", "equal", "by_libgcc_alone", "frames", "unplaced"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for end, count in other.ends.items():
            self.ends[end] += count
        for place, count in other.places.items():
            self.places[place] = self.places.get(place, 0) + count


def symbolise(text: bytes) -> Frame:
    """`text` as PlacePc has it."""
    offset, _, path = text.rstrip(b"\0").decode().partition(" ")
    if not path or path.startswith("["):
        return Frame(offset, path)
    found = subprocess.run(["addr2line", "-C", "-f", "-e", path, offset],
                           capture_output=True, text=True, check=False).stdout.splitlines()
    function = found[0] if found and found[0] != "??" else offset
    return Frame(function, pathlib.Path(path).name)


def read(path: pathlib.Path) -> Checks:
    content = path.read_bytes()
    if len(content) != COUNTS.size + MAX_PLACES * PLACE.size:
        raise ValueError(f"{path}: {len(content)} bytes: check_file.h and checks.py differ")
    compared, equal, alone, frames, unplaced, place_count, *ends = COUNTS.unpack_from(content)
    checks = Checks(compared, equal, alone, frames, unplaced, dict(zip(ENDS, ends)))
    for index in range(place_count):
        count, kind, to_libgccs, _, _, _, agreed, told, other = PLACE.unpack_from(
            content, COUNTS.size + index * PLACE.size)
        place = Place(KINDS[kind], KINDS[to_libgccs], symbolise(agreed), symbolise(told), symbolise(other))
        checks.places[place] = checks.places.get(place, 0) + count
    return checks
