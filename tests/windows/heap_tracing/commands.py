#!/usr/bin/env python3
"""Runs leakgate.exe's commands for Windows' own heap tracing under Wine: on its registry, with a fake wpr.exe, and on
.etl files that are made here. On Linux, leakgate reads those as well, and refuses the rest.

Usage: commands.py --wine ci/wine --leakgate PATH --fake-wpr PATH --interrupts PATH [SCENARIO...]
       commands.py --leakgate PATH
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile

IMAGES = r"HKLM\Software\Microsoft\Windows NT\CurrentVersion\Image File Execution Options"
KITS = r"HKLM\SOFTWARE\Microsoft\Windows Kits\Installed Roots"
IMAGE = "leakgate-command.exe"


def windows(path: pathlib.Path) -> str:
    return "Z:" + str(path).replace("/", "\\")


class Commands:
    def __init__(self, options, folder: pathlib.Path):
        self.wine, self.folder, self.interrupts = options.wine, folder, options.interrupts
        self.command = [*([self.wine] if self.wine else []), options.leakgate]
        self.log = folder / "wpr.log"
        if not self.wine:
            return
        kit = folder / "kits" / "Windows Performance Toolkit"
        kit.mkdir(parents=True)
        shutil.copy(options.fake_wpr, kit / "wpr.exe")

    def __call__(self, *arguments, wpr="") -> subprocess.CompletedProcess:
        return self.run([*self.command, *map(str, arguments)], wpr)

    def run(self, line: list, wpr="") -> subprocess.CompletedProcess:
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "LEAKGATE_FAKE_WPR": wpr,
                       "LEAKGATE_FAKE_WPR_LOG": windows(self.log)}
        done = subprocess.run(line, cwd=self.folder, env=environment, capture_output=True, timeout=120, check=False)
        done.stdout, done.stderr = (text.decode("utf-8", "replace").replace("\r\n", "\n") for text in (done.stdout, done.stderr))
        return done

    def gives(self, code: int, *arguments, wpr="", says="") -> str:
        """What the command prints, after its exit code was found to be `code`. What it says is one line, if it fails."""
        done = self(*arguments, wpr=wpr)
        text = done.stdout + done.stderr
        check(done.returncode == code, f"{arguments}: {done.returncode} instead of {code}:\n{text}")
        check(says in text, f"{arguments}: no {says!r} in:\n{text}")
        if code == 2:
            check(done.stdout == "" and done.stderr.count("\n") == 1, f"{arguments}: not one line:\n{text}")
        return text

    def registry(self, *arguments) -> str:
        return subprocess.run([self.wine, "reg", *arguments], capture_output=True, timeout=60, check=False).stdout.decode(
            "utf-8", "replace")

    def flag(self) -> str:
        found = re.search(r"TracingFlags\s+REG_DWORD\s+(\S+)", self.registry("query", rf"{IMAGES}\{IMAGE}"))
        return found[1] if found else "none"

    def called(self) -> list[str]:
        """The arguments of wpr's calls since the last time, with the name of the file alone."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return [re.sub(r"^-stop .*\\", "-stop ", line.rstrip()) for line in lines]

    def files(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir() if path.name not in ("kits", "wpr.log"))

    def install(self, folder: pathlib.Path | None) -> None:
        if not self.wine:
            return
        self.registry("delete", KITS, "/v", "KitsRoot10", "/f")
        if folder:
            self.registry("add", KITS, "/v", "KitsRoot10", "/t", "REG_SZ", "/d", windows(folder), "/f")

    def clean(self) -> None:
        """Also of what an earlier run has left: Wine sets LOCALAPPDATA itself, so the journal is its user's."""
        if self.wine:
            self.install(None)
            self("session", "stop", "web", "--force")
            self.registry("delete", rf"{IMAGES}\{IMAGE}", "/f")


def check(is_so: bool, why: str) -> None:
    if not is_so:
        raise AssertionError(why)


def equal(is_now, expected) -> None:
    check(is_now == expected, f"{is_now!r} instead of {expected!r}")


def sessions(commands) -> None:
    equal(commands.flag(), "none")
    commands.gives(0, "session", "start", "web", "--image", IMAGE, says="leakgate session stop web")
    equal(commands.flag(), "0x1")
    commands.gives(2, "session", "start", "web", "--image", IMAGE, says="there is a session 'web' already")
    text = commands.gives(0, "session", "list")
    check(f"{IMAGE}: TracingFlags 0x1, before: none\n  session web, by " in text, text)
    listed = json.loads(commands.gives(0, "session", "list", "--json"))
    check(any(image["image"] == IMAGE and image["is_ours"] for image in listed["images"]), str(listed))
    commands.gives(0, "session", "stop", "web")
    equal(commands.flag(), "none")
    commands.gives(2, "session", "stop", "web", says="there is no session 'web'")


def bad_input(commands) -> None:
    for arguments in (["session", "start"], ["session", "start", "web"], ["session", "start", "web", "--image", "web"],
                      ["session", "start", "a b", "--image", IMAGE], ["session", "start", "w", "--image", IMAGE, "--", "x"],
                      ["session", "unit", "web", "--image", IMAGE, "--etl", "here.etl"],
                      ["session", "unit", "web", "--image", "a%b.exe", "--etl", r"C:\a.etl"],
                      ["snapshot", "take", "--pid", "4"], ["snapshot", "take", "--etl", "a.etl"],
                      ["recording", "import"], ["recording", "import", "none.etl"]):
        commands.gives(2, *arguments)
    equal(commands.flag(), "none")


def session_with_wpr(commands) -> None:
    commands.gives(0, "session", "start", "web", "--image", IMAGE, "--wpr", says="--etl FILE")
    equal(commands.called(), ["-start Heap -filemode"])
    (commands.folder / "there.etl").write_text("another's")
    commands.gives(2, "session", "stop", "web", "--etl", "there.etl", says="is there already")
    commands.gives(2, "session", "stop", "web", "--etl", r"no\folder.etl", says="make it first")
    commands.gives(3, "session", "stop", "web", "--etl", "a.etl", wpr="-stop=fails",
                   says="There are no trace profiles running. Error code: 0xc5583000")
    commands.gives(3, "session", "stop", "web", "--etl", "a.etl", wpr="-stop=nothing", says="The session 'web' goes on")
    equal(commands.files(), ["there.etl"])
    equal(commands.flag(), "0x1")
    commands.called()
    commands.gives(0, "session", "stop", "web", "--etl", "ä b.etl")
    equal(commands.called(), ["-stop ä b.etl"])
    equal(commands.files(), ["there.etl", "ä b.etl", "ä b.etl.NGENPDB"])
    equal((commands.folder / "there.etl").read_text(), "another's")
    equal(commands.flag(), "none")


def session_without_its_recording(commands) -> None:
    commands.gives(3, "session", "start", "web", "--image", IMAGE, "--wpr", wpr="-start=fails", says="failed with 0xc5583000")
    equal(commands.flag(), "none")
    commands.gives(0, "session", "start", "web", "--image", IMAGE, "--wpr")
    commands.called()
    commands.gives(0, "session", "stop", "web")
    equal(commands.called(), ["-cancel"])
    equal(commands.flag(), "none")
    equal(commands.files(), [])


@contextlib.contextmanager
def running_process(commands):
    """Gives the PID of a process that runs meanwhile."""
    process = subprocess.Popen([commands.wine, commands.folder / "kits/Windows Performance Toolkit/wpr.exe"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        yield process.stdout.readline().decode().strip()
    finally:
        process.communicate(b"\n")


def calls_of_snapshot(pid: str, *then: str) -> list[str]:
    """From the first to the last; `then` stands for what is between."""
    return [f"-snapshotconfig heap -pid {pid} enable", "-start heapsnapshot -filemode", *then,
            f"-snapshotconfig heap -pid {pid} disable"]


def snapshots(commands) -> None:
    with running_process(commands) as pid:
        take = ["snapshot", "take", "--pid", pid, "--for", "10ms", "--etl"]
        single = f"-singlesnapshot heap {pid}"
        commands.gives(0, *take, "a.etl", says="wrote a.etl")
        equal(commands.called(), calls_of_snapshot(pid, single, "-stop a.etl"))
        equal(commands.files(), ["a.etl", "a.etl.NGENPDB"])
        commands.gives(2, *take, "a.etl", says="is there already")
        commands.gives(2, "snapshot", "take", "--pid", "999999", "--etl", "b.etl", says="there is no process")
        equal(commands.called(), [])
        commands.gives(3, *take, "b.etl", wpr="-start=fails")
        equal(commands.called(), calls_of_snapshot(pid))
        commands.gives(3, *take, "b.etl", wpr="-singlesnapshot=fails")
        equal(commands.called(), calls_of_snapshot(pid, single, "-cancel"))
        commands.gives(3, *take, "b.etl", wpr="-stop=fails")
        equal(commands.called(), calls_of_snapshot(pid, single, "-stop b.etl", "-cancel"))
        equal(commands.files(), ["a.etl", "a.etl.NGENPDB"])


def an_interrupted_snapshot(commands) -> None:
    with running_process(commands) as pid:
        line = f"{windows(commands.command[1])} snapshot take --pid {pid} --for 60s --etl a.etl"
        done = commands.run([commands.wine, commands.interrupts, "is traced for", "50", line])
        check("interrupted before the snapshot; nothing was written" in done.stderr, done.stdout + done.stderr)
        equal(commands.called(), calls_of_snapshot(pid, "-cancel"))
        equal(commands.files(), [])


def without_wpr(commands) -> None:
    commands.install(None)
    commands.gives(2, "snapshot", "take", "--pid", "4", "--etl", "a.etl", says="install the Windows Performance Toolkit")
    commands.gives(2, "session", "start", "web", "--image", IMAGE, "--wpr", says="install the Windows Performance Toolkit")
    equal(commands.flag(), "none")
    commands.gives(0, "session", "start", "web", "--image", IMAGE)
    commands.gives(0, "session", "stop", "web")


def boot_commands(commands) -> None:
    """The commands of `session unit` do what they say: those for the registry are executed here."""
    text = commands.gives(0, "session", "unit", "web", "--image", IMAGE, "--etl", r"C:\boot.etl")
    check(f'leakgate session start web --image "{IMAGE}"\n' in text, text)
    key = r"HKLM\SYSTEM\CurrentControlSet\Control\WMI\Autologger\leakgate-web"
    for line in re.findall(r"^reg (.*)$", text, flags=re.M):
        commands.registry(*(quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', line)))
    query = commands.registry("query", key)
    for name, kind, value in (("GUID", "REG_SZ", "{222962ab-6180-4b88-a825-346b75f2a24a}"), ("Start", "REG_DWORD", "0x1"),
                              ("FileName", "REG_SZ", r"C:\boot.etl"), ("BufferSize", "REG_DWORD", "0x40"),
                              ("StackWalkingFilter", "REG_BINARY", "62020000201000002110000022100000")):
        check(re.search(rf"{name}\s+{kind}\s+{re.escape(value)}\s", query) is not None, query)
    undo = commands.gives(0, "session", "unit", "web", "--image", IMAGE, "--undo")
    check(f'reg delete "{key}" /f\n' in undo and "leakgate session stop web\n" in undo, undo)
    commands.registry("delete", key, "/f")


def record(group: int, opcode: int, time: int, payload: bytes, pid=77, thread=5) -> bytes:
    made = struct.pack("<HBBHBBIIQQ", 2, 2, 0xC0, 32 + len(payload), opcode, group, thread, pid, time, 0) + payload
    return made + bytes(-len(made) % 8)


def etl(lost=0, pids=(77,), unloads=False) -> bytes:
    """A file with a block of 30 bytes of each process, and one that is freed; at last, another module takes the first one's place."""
    facts = bytearray(280)
    struct.pack_into("<I", facts, 36, 1)
    struct.pack_into("<I", facts, 48, lost)
    records = record(0, 0, 1, bytes(facts))
    for pid in pids:
        module, other = (struct.pack("<QQI", 0x400000, 0x1000, pid) + bytes(36) + f"\\Device\\{name}\0".encode("utf-16-le")
                         for name in ("web.exe", "other.dll"))
        records += record(0x14, 10, 2, module, pid)
        records += record(0x10, 0x21, 10, struct.pack("<QQQI", 1, 30, 0x1000, 2), pid)
        records += record(0x18, 32, 11, struct.pack("<QIIQQ", 10, pid, 5, 0x400010, 0x7F0000), pid)
        records += record(0x10, 0x21, 20, struct.pack("<QQQI", 1, 64, 0x2000, 2), pid)
        records += record(0x10, 0x24, 30, struct.pack("<QQI", 1, 0x2000, 2), pid)
        if unloads:
            records += record(0x14, 2, 40, module, pid) + record(0x14, 10, 50, other, pid)
    buffer = bytearray(72) + records
    struct.pack_into("<I", buffer, 0, 4096)
    struct.pack_into("<I", buffer, 48, len(buffer))
    return bytes(buffer) + b"\xff" * (4096 - len(buffer))


def imports(commands) -> None:
    file = commands.folder / "a.etl"
    file.write_bytes(etl())
    text = commands.gives(0, "recording", "import", "a.etl")
    equal(text, "web.exe (PID 77): 30 B in 1 block live at the end, by 1 call stack\n\n"
                "  30 B in 1 block\n    web.exe+0x10\n    0x7f0000\n")
    file.write_bytes(etl(lost=5))
    commands.gives(3, "recording", "import", "a.etl", says="incomplete: 5 events lost")
    is_whole = json.loads(commands.gives(3, "recording", "import", "a.etl", "--json"))["is_whole"]
    equal(is_whole, False)
    file.write_bytes(etl(pids=(77, 78)))
    commands.gives(2, "recording", "import", "a.etl", says="77 (web.exe, 3 events), 78 (web.exe, 3 events); name one with --pid")
    commands.gives(0, "recording", "import", "a.etl", "--pid", "78", says="web.exe (PID 78)")
    file.write_bytes(etl(unloads=True))
    commands.gives(0, "recording", "import", "a.etl", says="30 B in 1 block\n    web.exe+0x10\n    0x7f0000\n")
    file.write_bytes(b"no trace" * 100)
    commands.gives(2, "recording", "import", "a.etl", says="not a trace of Windows")
    file.write_bytes(etl(pids=()))
    commands.gives(3, "recording", "import", "a.etl", says="it has no events of heaps")


def damaged_toolkit(commands) -> None:
    toolkit = commands.folder / "kits" / "Windows Performance Toolkit"
    (toolkit / "KernelTraceControl.dll").write_bytes(b"no library")
    commands.gives(0, "doctor", "--self-test", says="  warn  toolkit: cannot load StartHeapTrace from ")


def only_on_windows(commands) -> None:
    for arguments in (["session", "stop", "web", "--etl", "a.etl"], ["session", "start", "web", "--image", "a.exe", "--wpr"],
                      ["snapshot", "take", "--pid", "1", "--etl", "a.etl"]):
        commands.gives(2, *arguments, says="unknown option")


SCENARIOS = [sessions, bad_input, session_with_wpr, session_without_its_recording, snapshots, an_interrupted_snapshot,
             without_wpr, boot_commands, imports, damaged_toolkit]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--wine")
    parser.add_argument("--leakgate", required=True)
    parser.add_argument("--fake-wpr")
    parser.add_argument("--interrupts", help="the program that sends Ctrl-C")
    parser.add_argument("scenarios", nargs="*")
    options = parser.parse_args()
    for scenario in SCENARIOS if options.wine else [imports, only_on_windows]:
        if options.scenarios and scenario.__name__ not in options.scenarios:
            continue
        with tempfile.TemporaryDirectory() as folder:
            commands = Commands(options, pathlib.Path(folder))
            commands.clean()
            try:
                commands.install(commands.folder / "kits")
                scenario(commands)
            finally:
                commands.clean()
        print(f"{scenario.__name__}: ok", flush=True)


if __name__ == "__main__":
    main()
