#!/usr/bin/env python3
"""Uses an installation of leakgate for Windows as its users do, from a folder of its own:

  check.py FOLDER [--scratch DIR]

FOLDER is an unpacked archive, or what `cmake --install` makes. A project of a few lines finds it by find_package, is built
by the cross compiler with the examples' sources, and runs under Wine by FOLDER's leakgate.exe: verdicts, exit codes, each
report format, and a program that imports the agent itself. Then CMake configures the same project for Microsoft's compiler,
which clang-cl stands in for: nothing can be linked for that here, so the commands are only looked at.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
# Each format with what its file must have.
REPORTS = {"json": '"over_budget"', "junit": "<testsuites", "html": "<html", "sarif": '"2.1.0"', "markdown": "Greeting"}

PROJECT = """
cmake_minimum_required(VERSION 3.18)
project(user CXX)
if(STANDS_FOR_MSVC)  # there is no GoogleTest for it here
  add_library(GTest::gtest INTERFACE IMPORTED)
  set(CMAKE_CXX_COMPILE_FEATURES cxx_std_11 cxx_std_14)  # which CMake finds out by compiling
  set(CMAKE_CXX14_STANDARD_COMPILE_OPTION /std:c++14)
else()
  find_package(GTest REQUIRED)
endif()
find_package(leakgate 0.1 REQUIRED)
foreach(name greeting session_cache)
  file(GLOB source ${EXAMPLES}/*/${name}_test.cpp)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE leakgate::gtest_main)
endforeach()
add_executable(importing ${EXAMPLES}/minimal/greeting_test.cpp)
target_link_libraries(importing PRIVATE leakgate::gtest_main leakgate::agent_import)
enable_testing()
add_executable(untouched ${EXAMPLES}/minimal/greeting_test.cpp)
target_link_libraries(untouched PRIVATE GTest::gtest)
if(MINGW)
  target_link_libraries(untouched PRIVATE GTest::gtest_main)
  foreach(name greeting session_cache importing untouched)
    target_link_options(${name} PRIVATE -static)
  endforeach()
  leakgate_discover_tests(greeting XML_OUTPUT_DIR ${CMAKE_BINARY_DIR}/xml)
  leakgate_discover_tests(untouched TEST_PREFIX untouched.)
endif()
get_target_property(runner leakgate::leakgate IMPORTED_LOCATION_RELEASE)
if(NOT runner)
  get_target_property(runner leakgate::leakgate IMPORTED_LOCATION_RELWITHDEBINFO)
endif()
if(NOT EXISTS "${runner}")
  message(FATAL_ERROR "leakgate::leakgate is ${runner}, which does not exist")
endif()
"""

# As users have one.
TOOLCHAIN = """
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR %s)
"""

# What a command of the documents must answer: its exit code, and what it prints.
DOCUMENTED = {" run ": (1, "Greeting.IsForgotten"), " record ": (0, "look at it:"), " recording ": (0, "Call sites"),
              " doctor ": (0, "leakgate: self-test: all holds")}


class Failure(Exception):
    pass


def run(*command: object, **options) -> subprocess.CompletedProcess:
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False, **options)
    done.text = done.stdout + done.stderr
    return done


def require(condition: bool, what: str, text: str = "") -> None:
    print(f"{'ok   ' if condition else 'WRONG'} {what}", flush=True)
    if not condition:
        raise Failure(text or what)


def configure(source: pathlib.Path, build: pathlib.Path, folder: pathlib.Path, *options: str) -> None:
    done = run("cmake", "-G", "Ninja", "-S", source, "-B", build, f"-DEXAMPLES={ROOT}/examples",
               f"-DCMAKE_PREFIX_PATH={folder};{ROOT}/build/windows-libraries", *options)
    require(done.returncode == 0, f"configured {build.name}", done.text)


def leakgate(folder: pathlib.Path, scratch: pathlib.Path, *words: object) -> subprocess.CompletedProcess:
    return run(ROOT / "ci/wine", folder / "bin/leakgate.exe", *words, cwd=scratch)


def check_gate(folder: pathlib.Path, build: pathlib.Path, scratch: pathlib.Path) -> None:
    reports = [f"--report={name}=out.{name}" for name in REPORTS]
    done = leakgate(folder, scratch, "run", *reports, "--", build / "greeting.exe")
    require(done.returncode == 1 and "Greeting.IsForgotten" in done.text, "run gates the suite: exit code 1", done.text)
    for name, has in REPORTS.items():
        file = scratch / f"out.{name}"
        text = file.read_text(errors="replace") if file.exists() else ""
        require(has in text, f"report {name}: {len(text)} characters", text[:500])
    # The object of one run.
    require(json.loads((scratch / "out.json").read_text()) is not None, "the JSON report is JSON")

    budgets = ROOT / "examples/with_budgets/net.leakgate.json"
    done = leakgate(folder, scratch, "run", "--budgets", budgets, "--", build / "session_cache.exe")
    require(done.returncode == 0, "budgets let what they allow pass: exit code 0", done.text)
    done = leakgate(folder, scratch, "run", "--", build / "no_such.exe")
    require(done.returncode == 2, "no such program: exit code 2", done.text)

    # It finds the agent's library beside itself.
    shutil.copy(folder / "bin/leakgate_agent64.dll", build)
    done = leakgate(folder, scratch, "run", "--", build / "importing.exe")
    require(done.returncode == 1 and "Greeting.IsForgotten" in done.text, "a program that imports the agent itself", done.text)
    done = run(ROOT / "ci/wine", build / "importing.exe", cwd=scratch)
    require(done.returncode == 0 and "leakgate: not tracing" in done.text, "the same by itself", done.text)


def check_discovered(build: pathlib.Path) -> None:
    """Each test as a process of its own, with leakgate's listener and without."""
    done = run("ctest", "--test-dir", build)
    failed = sorted(re.findall(r"^\s+\d+ - (\S+) \(Failed\)", done.text, re.M))
    require(failed == ["Greeting.IsForgotten", "leakgate.summary", "untouched.Greeting.IsForgotten"],
            f"ctest: failed: {failed}", done.text)
    require((build / "leakgate-summary.html").exists(), "ctest: the reports are merged")
    require((build / "xml/Greeting.IsForgotten.xml").exists(), "ctest: GoogleTest's XML")


def check_documents(folder: pathlib.Path, build: pathlib.Path, scratch: pathlib.Path) -> None:
    """What README.md and docs/windows.md have users of Windows type, as it stands there."""
    version = leakgate(folder, scratch, "--version").text.split()[1]
    name = f"leakgate-{version}-windows-x86_64"
    (scratch / name).symlink_to(folder)
    (scratch / "build").mkdir()
    shutil.copy(build / "greeting.exe", scratch / "build/my_tests.exe")
    lines = [line for document in ("README.md", "docs/windows.md")
             for block in re.findall(r"^```bat\n(.*?)^```", (ROOT / document).read_text(), re.M | re.S) for line in block.splitlines()]
    require(lines.count(f"tar -xf {name}.zip") == 2, f"the documents unpack {name}.zip")  # Wine has no tar
    require(f"/{name}.zip" in (ROOT / "ci/templates/github/windows.yml").read_text(), "so does the job for GitHub")
    for line in lines:
        if line.startswith("tar "):
            continue
        done = run(ROOT / "ci/wine", "cmd", "/c", line, cwd=scratch)
        expected = next(answer for word, answer in DOCUMENTED.items() if word in line)
        require(done.returncode == expected[0] and expected[1] in done.text, line, done.text)


def check_msvc(source: pathlib.Path, folder: pathlib.Path, scratch: pathlib.Path) -> None:
    """What CMake would have Microsoft's compiler and linker do."""
    if shutil.which("clang-cl-14") is None and shutil.which("clang-cl") is None:
        print("      not checked for Microsoft's compiler: there is no clang-cl")
        return
    build = scratch / "msvc"
    compiler = shutil.which("clang-cl") or shutil.which("clang-cl-14")
    configure(source, build, folder, "-DCMAKE_SYSTEM_NAME=Windows", f"-DCMAKE_CXX_COMPILER={compiler}",
              "-DCMAKE_CXX_COMPILER_TARGET=x86_64-pc-windows-msvc", "-DCMAKE_CXX_COMPILER_WORKS=ON", "-DCMAKE_SIZEOF_VOID_P=8",
              "-DCMAKE_CXX_ABI_COMPILED=ON", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY", "-DCMAKE_LINKER=lld-link",
              "-DCMAKE_MT=llvm-mt", "-DCMAKE_BUILD_TYPE=Release", "-DSTANDS_FOR_MSVC=ON")
    commands = run("ninja", "-C", build, "-t", "commands", "importing").text
    for part in ("share/leakgate/listener/listener.cpp", "share/leakgate/agent_import/agent_import.cpp",
                 "lib/leakgate_agent64.lib"):
        require(part in commands, f"for Microsoft's compiler: {part}", commands)
    foreign = re.findall(r"-static\b|\.dll\.a\b|-l(?:dl|stdc\+\+)\b|libleakgate", commands)
    require(not foreign, "nothing of another compiler's", f"{foreign}: {commands}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder.resolve()
    with tempfile.TemporaryDirectory(prefix="leakgate package ") as name:  # a space, as in "Program Files"
        scratch = pathlib.Path(name)
        (scratch / "source").mkdir()
        (scratch / "source/CMakeLists.txt").write_text(PROJECT)
        (scratch / "source/mingw.cmake").write_text(TOOLCHAIN % (ROOT / "ci/wine"))
        build = scratch / "mingw"
        try:
            configure(scratch / "source", build, folder, f"-DCMAKE_TOOLCHAIN_FILE={scratch}/source/mingw.cmake",
                      "-DCMAKE_BUILD_TYPE=Debug")
            done = run("cmake", "--build", build)
            require(done.returncode == 0, "built", done.text)
            check_gate(folder, build, scratch)
            check_discovered(build)
            check_documents(folder, build, scratch)
            check_msvc(scratch / "source", folder, scratch)
        except Failure as failure:
            sys.exit(f"{failure}")


if __name__ == "__main__":
    main()
