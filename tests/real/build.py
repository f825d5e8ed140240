#!/usr/bin/env python3
"""Fetches a real suite's source from Debian and builds its tests, untouched.

Beside each test binary B stands B_listener, the same objects with leakgate's
listener linked in, and for one of them B_planted, with SUITE_planted.patch
applied to a copy of its source. Does nothing that was done before.

Usage: build.py SUITE
"""
import contextlib
import fcntl
import os
import pathlib
import shutil
import subprocess
import sys

from suites import HERE, ROOT, SUITES, Suite


def say(text: str) -> None:
    print(f"real: {text}", flush=True)


def run(*command: object, **options) -> None:
    subprocess.run([str(word) for word in command], check=True, **options)


def debian_release() -> tuple[str, str]:
    """The release's code name, and the mirror that this machine uses for it."""
    lines = pathlib.Path("/etc/os-release").read_text().splitlines()
    code_name = dict(line.split("=", 1) for line in lines if "=" in line)["VERSION_CODENAME"]
    targets = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(RELEASE) $(COMPONENT) $(REPO_URI)", "Created-By: Packages"],
        capture_output=True, text=True, check=False).stdout.splitlines()
    for release, component, mirror in (line.split() for line in targets):
        if (release, component) == (code_name, "main"):
            return code_name, mirror
    return code_name, "http://deb.debian.org/debian/"


def apt_options() -> list[str]:
    """An apt of our own: its list of sources and all that it writes is below ROOT."""
    apt = ROOT / "apt"
    for folder in ("lists/partial", "cache/archives/partial", "parts"):
        (apt / folder).mkdir(parents=True, exist_ok=True)
    code_name, mirror = debian_release()
    (apt / "sources.list").write_text(
        "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] "
        f"{mirror} {code_name} main\n")
    settings = {
        "Dir::Etc::SourceList": apt / "sources.list",
        "Dir::Etc::SourceParts": apt / "parts",
        "Dir::State::Lists": apt / "lists",
        "Dir::Cache": apt / "cache",
        # Its own user may not reach a checkout in somebody's home.
        "APT::Sandbox::User": "root",
    }
    return [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]


def fetch(suite: Suite) -> None:
    if not suite.package or suite.source.is_dir():
        return
    say(f"fetching the source package {suite.package} from Debian")
    download = ROOT / "download" / suite.package
    shutil.rmtree(download, ignore_errors=True)
    download.mkdir(parents=True)
    apt = ["apt-get", "-qq", *apt_options()]
    run(*apt, "update")
    run(*apt, "source", "--only-source", suite.package, cwd=download, stdout=subprocess.DEVNULL)
    unpacked = next(path for path in download.iterdir() if path.is_dir())
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


def configure(suite: Suite) -> None:
    run_logged(suite, "configure", [
        "cmake", "-G", "Ninja", "-S", suite.source, "-B", suite.build, "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
        *launcher(), *suite.options, f"-DCMAKE_PROJECT_INCLUDE={HERE / 'variants.cmake'}",
        f"-DLEAKGATE_VARIANTS_OF={';'.join(suite.binaries)}",
        f"-DLEAKGATE_PLANTED={ROOT / 'planted' / suite.name}", f"-DLEAKGATE_PLANTS={ROOT / 'plants' / suite.name}"])


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
