"""The commands by which README.md has people build and install leakgate, as they are written there."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def without_comment(line: str) -> str:
    return line.partition(" #")[0].strip()


def install_commands() -> list[str]:
    """The lines of the ```sh block that installs."""
    blocks = re.findall(r"^```sh\n(.*?)^```", (ROOT / "README.md").read_text(), flags=re.M | re.S)
    block, = (block for block in blocks if "cmake --install" in block)
    return [without_comment(line) for line in block.splitlines()]
