"""What `ci/package --windows` makes and checks: leakgate-VERSION-windows-x86_64.zip."""
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build/package-windows"
SOURCES = ROOT / "build/windows-libraries/source"
PACKAGES = "g++-mingw-w64-x86-64-posix cmake ninja-build wine64 clang lld llvm".split()
FILES = {
    "bin/leakgate.exe", "bin/leakgate_agent64.dll", "lib/leakgate_agent64.lib", "lib/cmake/leakgate/leakgateConfig.cmake",
    "lib/cmake/leakgate/LeakgateTests.cmake", "include/leakgate/listener.h", "share/leakgate/listener/listener.cpp",
    "share/leakgate/listener/gtest_main.cpp", "share/leakgate/agent_import/agent_import.cpp", "share/doc/leakgate/LICENSE",
    "share/doc/leakgate/docs/windows.md", "share/doc/leakgate/notices/README.md", "share/doc/leakgate/notices/libdwarf",
    "lib/leakgate/self_test/leakgate_self_test.exe", "lib/leakgate/self_test/leakgate_self_test.pdb",
    "lib/leakgate/self_test/leakgate_self_test_early.dll", "lib/leakgate/self_test/leakgate_self_test_late.dll",
}
# What each Windows has in its system folder, from Windows 10 on.
LIBRARIES = {"advapi32.dll", "dbghelp.dll", "kernel32.dll", "msvcrt.dll", "ntdll.dll", "ole32.dll", "oleaut32.dll", "psapi.dll",
             "shell32.dll", "user32.dll", "ws2_32.dll", "bcrypt.dll"}
# Debian's packages of headers and of the compiler's libraries, and its source packages that ci/windows-libraries builds.
LINKED_IN = {"libboost1.81-dev": "Boost", "libfmt-dev": "fmt", "libcli11-dev": "CLI11", "nlohmann-json3-dev": "nlohmann-json",
             "libexpected-dev": "tl-expected", "libz-mingw-w64-dev": "zlib", "mingw-w64-x86-64-dev": "mingw-w64",
             "g++-mingw-w64-x86-64-posix": "GCC-runtime"}
BUILT_IN = {"dwarfutils": "libdwarf", "pugixml": "pugixml", "sqlite3": "SQLite", "xxhash": "xxHash", "minizip": "minizip",
            "libzstd": "zstd"}


def built_in_sources() -> list[tuple[str, str, str, pathlib.Path]]:
    """Name, source package, version and copyright file of each."""
    found = []
    for package, name in BUILT_IN.items():
        description, = SOURCES.glob(f"{package}_*.dsc")
        version = re.search(r"^Version: (\S+)", description.read_text(), re.M)[1]
        folder = next(path for path in SOURCES.glob(f"{package}-*/") if path.is_dir())
        found.append((name, package, version, folder / "debian/copyright"))
    return found


def imported_libraries(file: pathlib.Path) -> set[str]:
    text = subprocess.run(["x86_64-w64-mingw32-objdump", "-p", file], capture_output=True, text=True, check=True).stdout
    return {name.lower() for name in re.findall(r"DLL Name: (\S+)", text)}


def problems_of(folder: pathlib.Path) -> list[str]:
    files = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    problems = [f"there is no {name}" for name in sorted(FILES - files.keys())]
    own = {path.name.lower() for path in files.values()}
    for name, path in sorted(files.items()):
        if path.suffix in (".exe", ".dll"):
            problems += [f"{name} needs {library}" for library in sorted(imported_libraries(path) - LIBRARIES - own)]
        # The self-test's program names its PDB by the path at which that was made.
        if "self_test" not in name and str(ROOT).encode() + b"/build" in path.read_bytes():
            problems.append(f"{name} has a path of the build tree in it")
    if problems:
        return problems
    for command in ([ROOT / "ci/wine", folder / "bin/leakgate.exe", "doctor", "--self-test"],
                    [sys.executable, ROOT / "tests/windows/package/check.py", folder]):
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        print(done.stdout, end="", flush=True)
        if done.returncode != 0:
            problems.append(f"{' '.join(map(str, command))}: exit code {done.returncode}: {done.stderr}")
    return problems


def problems_of_archive(archive: pathlib.Path) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="leakgate unpacked ") as scratch:
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(scratch)
        folders = list(pathlib.Path(scratch).iterdir())
        return problems_of(folders[0]) if len(folders) == 1 else ["it does not hold one folder"]
