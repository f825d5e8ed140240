#!/usr/bin/env python3
"""Packages a build tree with cpack, unpacks what comes out where nothing else is, and
uses it there: `leakgate run`, and the consumer project by find_package.

Usage: packages.py --tree BUILD_TREE --scratch FOLDER
"""
import argparse
import pathlib
import re
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
# What the runner needs on Debian 12, as dpkg-shlibdeps finds out: its other libraries are linked in.
NEEDED = {"libc6"}
DOCUMENTS = HERE.parents[1] / "docs"
RUNNER_FILES = {"bin/leakgate", "lib/libleakgate_agent.so", "share/doc/leakgate/LICENSE", "share/doc/leakgate/README.md",
                "share/bash-completion/completions/leakgate", "share/zsh/site-functions/_leakgate",
                "share/fish/vendor_completions.d/leakgate.fish",
                *(f"share/doc/leakgate/docs/{path.relative_to(DOCUMENTS)}" for path in DOCUMENTS.rglob("*") if path.is_file())}
DEV_FILES = {"include/leakgate/listener.h", "share/leakgate/listener/gtest_main.cpp",
             "lib/cmake/leakgate/leakgateConfig.cmake", "lib/cmake/leakgate/LeakgateTests.cmake"}


def output_of(*command: object, code: int = 0, **options) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    if done.returncode != code:
        raise SystemExit(f"{command}: exit code {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def files_below(folder: pathlib.Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def pages_of(leakgate: pathlib.Path, scratch: pathlib.Path) -> set[str]:
    output_of(leakgate, "man", "-o", scratch / "pages")
    return {f"share/man/man1/{name}" for name in files_below(scratch / "pages")}


def require(what: str, is_right: bool) -> None:
    if not is_right:
        raise SystemExit(f"packages: {what}")
    print(f"ok    {what}")


def package(tree: pathlib.Path, scratch: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path, pathlib.Path]:
    output_of("cpack", "--config", tree / "CPackConfig.cmake", "-B", scratch / "packages", cwd=scratch)
    runner, = (scratch / "packages").glob("leakgate_*.deb")
    dev, = (scratch / "packages").glob("leakgate-dev_*.deb")
    archive, = (scratch / "packages").glob("*.tar.gz")
    return runner, dev, archive


def gates(prefix: pathlib.Path, binary: pathlib.Path) -> bool:
    """The binary leaks in one test, and is told so by a leakgate with nothing around it."""
    said = output_of(prefix / "bin/leakgate", "run", "--", binary, code=1, env={"PATH": "/usr/bin:/bin"})
    return "2 tests: 1 pass, 1 over budget" in said


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--scratch", type=pathlib.Path, required=True)
    options = parser.parse_args()
    scratch = options.scratch.resolve()
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    runner, dev, archive = package(options.tree.resolve(), scratch)

    depends = set(re.findall(r"([\w.+-]+) \(", output_of("dpkg-deb", "-f", runner, "Depends")))
    require(f"leakgate depends on {', '.join(sorted(depends))}", NEEDED == depends)
    version = output_of("dpkg-deb", "-f", runner, "Version").strip()
    depends_of_dev = output_of("dpkg-deb", "-f", dev, "Depends").strip()
    require("leakgate-dev depends on the same leakgate, and on GoogleTest",
            depends_of_dev == f"leakgate (= {version}), libgtest-dev")

    root = scratch / "root"
    output_of("dpkg-deb", "-x", runner, root)
    require("leakgate has the runner, the agent, documents, pages and completion, and no more",
            files_below(root / "usr") == RUNNER_FILES | pages_of(root / "usr/bin/leakgate", scratch))
    page = output_of("man", "-M", root / "usr/share/man", "leakgate-run", env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"})
    require("man finds the page of a command", "leakgate-run - run a test binary" in " ".join(page.split()))
    require("leakgate finds the page of a topic",
            output_of(root / "usr/bin/leakgate", "help", "budgets") == (DOCUMENTS / "budgets.md").read_text())
    require("leakgate says its version", output_of(root / "usr/bin/leakgate", "--version").startswith("leakgate "))
    output_of("dpkg-deb", "-x", dev, root)
    require("leakgate-dev has what tests are built with", DEV_FILES <= files_below(root / "usr"))
    require("no file has a build tree's path in it",
            not [file for file in files_below(root) if b"/_CPack_Packages/" in (root / file).read_bytes()])

    consumer = scratch / "consumer"
    output_of("cmake", f"-DSOURCE={HERE}", f"-DBUILD={consumer}", f"-DPREFIX={root / 'usr'}", "-P", HERE / "run.cmake")
    print("ok    the consumer project, by find_package of what the .deb files hold")
    require("leakgate run, from the .deb", gates(root / "usr", consumer / "with_gtest_main"))

    output_of("tar", "-xf", archive, "-C", scratch)
    unpacked, = scratch.glob("leakgate-*-Linux")
    require("the archive has all of it", RUNNER_FILES | DEV_FILES <= files_below(unpacked))
    require("leakgate run, from the archive", gates(unpacked, consumer / "with_gtest_main"))


if __name__ == "__main__":
    main()
