#!/usr/bin/env python3
"""Fetches a real suite's source from Debian and builds its tests, untouched.

Beside each test binary B stands B_listener, the same objects with leakgate's
listener linked in, and for one of them B_planted, with SUITE_planted.patch
applied to a copy of its source. Does nothing that was done before.

With LEAKGATE_TOOLCHAIN, which names CMake's toolchain file, it builds for another processor.

Usage: build.py SUITE
"""
import contextlib
import fcntl
import os
import pathlib
import re
import shutil
import subprocess
import sys

from suites import HERE, ROOT, SUITES, Suite

sys.path.insert(0, str(HERE.parent / "support"))
from own_apt import OwnApt, debian_release  # noqa: E402: found by the line above


def say(text: str) -> None:
    print(f"real: {text}", flush=True)


def run(*command: object, **options) -> None:
    subprocess.run([str(word) for word in command], check=True, **options)


def fetch_source(package: str) -> pathlib.Path:
    """The unpacked source package of this release, or of Debian 12 where the mirror lacks it."""
    say(f"fetching the source package {package} from Debian")
    folder = ROOT / "download" / package
    try:
        return OwnApt(ROOT / "apt", "deb-src").source(package, folder)
    except subprocess.CalledProcessError:
        if debian_release()[0] == "bookworm":
            raise
        say(f"the mirror does not have it for this release; fetching {package} as Debian 12 has it")
        return OwnApt(ROOT / "apt-bookworm", "deb-src", ("bookworm",)).source(package, folder)


def fetch(suite: Suite) -> None:
    if not suite.package or suite.source.is_dir():
        return
    unpacked = fetch_source(suite.package)
    if suite.prepare:
        run(*suite.prepare, cwd=unpacked)
    suite.source.parent.mkdir(parents=True, exist_ok=True)
    unpacked.rename(suite.source)


def plant(suite: Suite) -> pathlib.Path | None:
    """The changed copy of one source file."""
    if not suite.planted:
        return None
    patch = HERE / f"{suite.name}_planted.patch"
    original = next(suite.source.rglob(f"{suite.planted}.cc"))
    # Of the name that the original has, so that a report reads alike.
    copy = ROOT / "planted" / suite.name / original.relative_to(suite.source)
    if not copy.exists() or copy.stat().st_mtime < patch.stat().st_mtime:
        copy.parent.mkdir(parents=True, exist_ok=True)
        run("patch", "--quiet", "--output", copy, original, patch)
    return copy


def run_logged(suite: Suite, name: str, command: list[object]) -> None:
    log = suite.build / f"{name}.log"
    suite.build.mkdir(parents=True, exist_ok=True)
    with log.open("w") as output:
        done = subprocess.run([str(word) for word in command], stdout=output, stderr=output, check=False)
    if done.returncode != 0:
        sys.exit(f"real: {suite.name}: {name} failed:\n{log.read_text(errors='replace')[-4000:]}")


def launcher() -> list[str]:
    return ["-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []


def least_standard() -> int:
    """The C++ standard that this machine's GoogleTest needs, which may be newer than a suite's own."""
    done = subprocess.run(["dpkg-query", "-W", "-f=${Version}", "libgtest-dev"], capture_output=True, text=True, check=False)
    version = tuple(int(number) for number in re.findall(r"\d+", done.stdout)[:2])
    return 17 if version >= (1, 17) else 14 if version >= (1, 13) else 11


def toolchain() -> list[str]:
    file = os.environ.get("LEAKGATE_TOOLCHAIN")
    return [f"-DCMAKE_TOOLCHAIN_FILE={file}"] if file else []


def configure_command(suite: Suite, build: pathlib.Path) -> list[object]:
    return [
        "cmake", "-G", "Ninja", "-S", suite.source, "-B", build, "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
        *launcher(), *toolchain(), *suite.options, f"-DCMAKE_PROJECT_INCLUDE={HERE / 'variants.cmake'}",
        f"-DLEAKGATE_VARIANTS_OF={';'.join(suite.binaries)}",
        f"-DLEAKGATE_LEAST_STANDARD={least_standard()}", f"-DLEAKGATE_PLANTED={ROOT / 'planted' / suite.name}", f"-DLEAKGATE_PLANTS={ROOT / 'plants' / suite.name}"]


def configure(suite: Suite) -> None:
    run_logged(suite, "configure", configure_command(suite, suite.build))


def build_targets(suite: Suite, targets: list[str]) -> None:
    run_logged(suite, "build", ["cmake", "--build", suite.build, "--target", *targets])


def build(suite: Suite) -> None:
    say(f"building {suite.name}: {len(suite.binaries)} test binaries, as they are and with the listener")
    planted = [f"{suite.planted}_planted"] if plant(suite) else []
    configure(suite)
    build_targets(suite, [*suite.binaries, *(f"{name}_listener" for name in suite.binaries), *planted])


@contextlib.contextmanager
def alone(what: str):
    """No other build has to do with `what` meanwhile."""
    with open(ROOT / f"{what}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build_suite(suite: Suite) -> None:
    ROOT.mkdir(parents=True, exist_ok=True)
    with alone("apt"):
        fetch(suite)
    with alone(suite.name):  # two builds may want the same suite
        build(suite)
    say(f"{suite.name} is built in {os.path.relpath(suite.build)}")


def main() -> None:
    if len(sys.argv) != 2 or sys.argv[1] not in SUITES:
        sys.exit(f"usage: build.py {'|'.join(SUITES)}")
    build_suite(SUITES[sys.argv[1]])


if __name__ == "__main__":
    main()
