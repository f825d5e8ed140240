"""Runs leakgate.exe under Wine, as users do, for tests that consist of scenarios: functions with one parameter, a Gate."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SCENARIOS = {}


def scenario(function):
    SCENARIOS[function.__name__] = function
    return function


class Gate:
    """leakgate.exe in a folder of its own, with a folder for temporary files of its own."""

    def __init__(self, options, folder: pathlib.Path):
        self.wine, self.leakgate, self.fixtures, self.folder = options.wine, options.leakgate, options.fixtures, folder
        self.temporary = folder / "temporary"
        self.temporary.mkdir()

    def environment(self) -> dict:
        windows = "Z:" + str(self.temporary).replace("/", "\\")
        return {**os.environ, "TEST_TMPDIR": windows, "TEMP": windows, "TMP": windows, "LC_ALL": "C.UTF-8"}

    def command(self, *arguments) -> list[str]:
        return [str(self.wine), str(self.leakgate), *map(str, arguments)]

    def __call__(self, *arguments, timeout=240) -> subprocess.CompletedProcess:
        done = subprocess.run(self.command(*arguments), cwd=self.folder, env=self.environment(), capture_output=True,
                              timeout=timeout, check=False)
        done.stdout, done.stderr = (text.decode("utf-8", "replace").replace("\r\n", "\n") for text in (done.stdout, done.stderr))
        return done

    def run(self, program: str, *options, tests="", arguments=(), expect=0) -> subprocess.CompletedProcess:
        """Runs a fixture. The JSON report is in self.report."""
        report = self.folder / "report.json"
        report.unlink(missing_ok=True)
        filter_given = [f"--gtest_filter={tests}"] if tests else []
        done = self("run", *options, "--report", "json=report.json", "--", self.fixtures / program, *filter_given, *arguments)
        self.report = json.loads(report.read_text()) if report.exists() else None
        check(done.returncode == expect, f"exit code {done.returncode} instead of {expect}", done)
        return done

    def window(self, name: str) -> dict:
        return next(window for window in self.report["windows"] if window["name"] == name)

    def left(self) -> list[str]:
        return sorted(str(path.relative_to(self.temporary)) for path in self.temporary.rglob("*"))


def check(is_so: bool, why: str, done=None) -> None:
    if not is_so:
        said = f"\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}" if done is not None else ""
        raise AssertionError(why + said)


def contains(text: str, *words: str) -> None:
    for word in words:
        check(word in text, f"no {word!r} in:\n{text[-4000:]}")


def either(text: str, *words: str) -> None:
    check(any(word in text for word in words), f"none of {words} in:\n{text[-4000:]}")


def write(folder: pathlib.Path, name: str, value) -> pathlib.Path:
    path = folder / name
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=1))
    return path


def is_running(name: str) -> bool:
    """Whether a process of Wine's runs a program of this name."""
    for process in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if name.encode() in process.read_bytes().split(b"\0")[0]:
                return True
        except OSError:
            pass
    return False


def wait_until(is_so, seconds=30) -> bool:
    for _ in range(seconds * 20):
        if is_so():
            return True
        time.sleep(0.05)
    return False


def main(description: str) -> int:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--wine", required=True, type=pathlib.Path)
    parser.add_argument("--leakgate", required=True, type=pathlib.Path)
    parser.add_argument("--fixtures", required=True, type=pathlib.Path)
    parser.add_argument("scenarios", nargs="*", choices=[*SCENARIOS, []], help="default: all")
    options = parser.parse_args()
    for name in ("wine", "leakgate", "fixtures"):
        setattr(options, name, getattr(options, name).absolute())
    wrong = 0
    for name in options.scenarios or SCENARIOS:
        with tempfile.TemporaryDirectory(prefix="leakgate-gate-") as folder:
            begin = time.monotonic()
            try:
                SCENARIOS[name](Gate(options, pathlib.Path(folder)))
                print(f"gate: {name}: ok, {time.monotonic() - begin:.1f} s", flush=True)
            except (AssertionError, subprocess.TimeoutExpired, KeyError, StopIteration, OSError) as error:
                wrong += 1
                print(f"gate: {name}: {type(error).__name__}: {error}", flush=True)
    return 1 if wrong else 0
