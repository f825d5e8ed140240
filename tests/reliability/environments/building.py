"""Builds the suite for a cell: the GoogleTest that it wants, and two binaries of the same objects,
`untouched` and `listener`."""
import hashlib
import pathlib
import shutil
import subprocess
import sys
import threading

from cells import Cell

HERE = pathlib.Path(__file__).resolve().parent
CHECKOUT = HERE.parents[2]
PLUGIN = CHECKOUT / "plugin"

sys.path.insert(0, str(CHECKOUT / "tests" / "support"))
from own_apt import OwnApt, debian_release  # noqa: E402

WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")


class BuildFailure(Exception):
    pass


def run(command: list[str], folder: pathlib.Path) -> None:
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise BuildFailure(f"{' '.join(command)}\n{done.stdout[-4000:]}")


class Builder:
    """All that it fetches and makes is below `root`. For several threads."""

    def __init__(self, root: pathlib.Path) -> None:
        self._root = root
        self._locks: dict[str, threading.Lock] = {}
        self._locks_lock = threading.Lock()

    def _once(self, what: str) -> threading.Lock:
        """Held while `what` is made: several cells may want it."""
        with self._locks_lock:
            return self._locks.setdefault(what, threading.Lock())

    def _fetched(self, packages: tuple[str, ...], release: str) -> pathlib.Path:
        """The folder that they are unpacked in; nothing is installed."""
        folder = self._root / "packages" / f"{release}-{packages[0]}"
        with self._once("apt"):
            if not folder.is_dir():
                apt = OwnApt(self._root / "apt" / release, "deb", (release,))
                apt.run("update")
                unpacked = folder.with_name("new-" + folder.name)
                apt.unpack(list(packages), unpacked)
                unpacked.rename(folder)
        return folder

    def _toolchain(self, cell: Cell) -> tuple[list[str], list[str]]:
        """Options to compile with, and to link with, for what is not installed."""
        if not cell.packages:
            return [], []
        root = self._fetched(cell.packages, debian_release()[0])
        if cell.runtime == "libc++":
            llvm = next(root.glob("usr/lib/llvm-*"))
            folder = root / "usr/lib/x86_64-linux-gnu"
            return (["-nostdinc++", "-isystem", str(llvm / "include/c++/v1")],
                    ["-stdlib=libc++", f"-L{llvm}/lib", f"-L{folder}", f"-Wl,-rpath,{llvm}/lib:{folder}"])
        return (["-isystem", str(next(root.glob("usr/include/*/c++/*/32")))],
                [f"-L{next(root.glob('usr/lib/gcc/*/*/32'))}", f"-L{root}/usr/lib32", f"-Wl,-rpath,{root}/usr/lib32"])

    def _compile(self, cell: Cell, source: pathlib.Path, output: pathlib.Path, *more: str) -> None:
        launcher = ["ccache"] if shutil.which("ccache") else []
        run([*launcher, cell.compiler, f"-std=c++{cell.standard}", "-g", *cell.flags, *self._toolchain(cell)[0], *more,
             "-c", str(source), "-o", output.name], output.parent)

    def _googletest(self, cell: Cell) -> tuple[list[str], list[str]]:
        """To compile and to link with: the installed library, or objects of the source."""
        if not cell.googletest:
            return [], ["-lgmock", "-lgtest"]
        # The binary package has the sources, and stays longer in an old release than the source package.
        source = self._fetched(("googletest",), cell.googletest) / "usr/src/googletest"
        includes = [f"-isystem{source}/{part}/include" for part in ("googletest", "googlemock")]
        key = hashlib.sha256(repr((cell.compiler, cell.standard, cell.flags, cell.googletest, cell.runtime)).encode())
        folder = self._root / "googletest" / key.hexdigest()[:16]
        objects = [folder / "gtest-all.o", folder / "gmock-all.o"]
        with self._once(folder.name):
            folder.mkdir(parents=True, exist_ok=True)
            for part, output in zip(("googletest", "googlemock"), objects):
                if not output.exists():
                    made = folder / ("new-" + output.name)
                    self._compile(cell, source / part / "src" / (output.stem + ".cc"), made, *includes,
                                  f"-I{source}/{part}")
                    made.rename(output)
        return includes, [str(output) for output in objects]

    def _compile_all(self, cell: Cell, folder: pathlib.Path, googletest: list[str]) -> None:
        for name in ("leaks", "passes", "main"):
            self._compile(cell, HERE / f"{name}.cpp", folder / f"{name}.o", *googletest)
        self._compile(cell, HERE / "library.cpp", folder / "library.o", "-fPIC")
        # What is leakgate's is compiled with the user's flags, by the user's standard, and warns of nothing.
        ours = [*googletest, f"-I{PLUGIN}/include", *WARNINGS]
        self._compile(cell, HERE / "main.cpp", folder / "listener_main.o", *ours, "-DWITH_LISTENER")
        self._compile(cell, PLUGIN / "listener/listener.cpp", folder / "listener.o", *ours)
        self._compile(cell, CHECKOUT / "tests/consumer/measures.cpp", folder / "public_headers.o", *ours)

    def build(self, cell: Cell) -> dict[str, pathlib.Path]:
        """The binary of each mode."""
        name = "".join(letter if letter.isalnum() else "_" for letter in f"{cell.name} {cell.compiler}")
        folder = self._root / "cells" / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        includes, googletest = self._googletest(cell)
        self._compile_all(cell, folder, includes)
        linked = [cell.compiler, "-g", *cell.flags]
        library = ["library.o"]
        if cell.has_library:
            run([*linked, "-shared", "-fPIC", "library.o", "-o", "libsuite.so", *self._toolchain(cell)[1]], folder)
            library = ["-L.", "-lsuite", "-Wl,-rpath,$ORIGIN"]
        for mode, objects in {"untouched": ["main.o"], "listener": ["listener_main.o", "listener.o"]}.items():
            run([*linked, "leaks.o", "passes.o", *objects, "-o", mode, *library, *googletest,
                 *self._toolchain(cell)[1], *cell.link, "-pthread", "-ldl"], folder)
        return {mode: folder / mode for mode in ("untouched", "listener")}
