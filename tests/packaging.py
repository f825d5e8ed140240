#!/usr/bin/env python3
"""Tries what packaging/ has, as far as that can be done without the package managers: their functions have stand-ins
here, which install a build tree instead of building. Versions must be CMakeLists.txt's, options must be known there,
and Debian's packages must be those of ci/setup.

Usage: tests/packaging.py --tree BUILD_TREE
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGING = ROOT / "packaging"
CMAKE = (ROOT / "CMakeLists.txt").read_text()
VERSION = re.search(r"project\(leakgate VERSION ([\d.]+)", CMAKE)[1]
FILES = ("bin/leakgate", "lib/libleakgate_agent.so", "include/leakgate/listener.h", "share/leakgate/listener/gtest_main.cpp",
         "lib/cmake/leakgate/leakgateConfig.cmake", "share/doc/leakgate/docs/budgets.md")
# Not of leakgate: the compiler and its tools, and what ci/quickstart fetches and builds a suite with.
TOOLS = {"g++", "cmake", "ninja-build", "python3", "libgmock-dev", "libbenchmark-dev", "dpkg-dev", "ca-certificates"}
VCPKG = """
function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
  if(NOT EXISTS "${arg_SOURCE_PATH}/CMakeLists.txt")
    message(FATAL_ERROR "no sources in ${arg_SOURCE_PATH}")
  endif()
  message(STATUS "options: ${arg_OPTIONS}")
endfunction()
function(vcpkg_cmake_install)
  execute_process(COMMAND "${CMAKE_COMMAND}" --install "${TREE}" --prefix "${CURRENT_PACKAGES_DIR}" OUTPUT_QUIET
    COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
  file(COPY_FILE "${arg_FILE_LIST}" "${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright")
endfunction()
include("${CURRENT_PORT_DIR}/portfile.cmake")
"""
CONSUMER = """cmake_minimum_required(VERSION 3.18)
project(consumer LANGUAGES CXX)
find_package(leakgate VERSION REQUIRED)
get_target_property(program leakgate::leakgate LOCATION)
if(NOT TARGET leakgate::gtest_main OR NOT EXISTS "${program}")
  message(FATAL_ERROR "no listener, or no leakgate: ${program}")
endif()
""".replace("VERSION REQUIRED", f"{VERSION} REQUIRED")


def require(what: str, holds: object, said: object = "") -> None:
    if not holds:
        sys.exit(f"packaging: NOT so: {what}\n{said}")
    print(f"ok    {what}")


def run(*command: object) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    require(f"{command[0]} succeeds", done.returncode == 0, done.stdout + done.stderr)
    return done.stdout + done.stderr


def require_options(whose: str, options: dict[str, str]) -> None:
    known = set(re.findall(r"option\((LEAKGATE_\w+)", CMAKE))
    names = {name for name in options if name.startswith("LEAKGATE_")}
    require(f"{whose} sets options that CMakeLists.txt has", names and names <= known, names - known)


def definitions(words: list[str]) -> dict[str, str]:
    return dict(word.removeprefix("-D").split("=", 1) for word in words if word.startswith("-D"))


def try_vcpkg(scratch: pathlib.Path, tree: pathlib.Path) -> None:
    port = PACKAGING / "vcpkg/leakgate"
    manifest = json.loads((port / "vcpkg.json").read_text())
    require("vcpkg.json has CMake's version", manifest["version"] == VERSION)
    require("vcpkg.json has no key but vcpkg's",
            set(manifest) <= {"name", "version", "description", "license", "supports", "dependencies"})
    package = scratch / "installed/packages"
    (scratch / "vcpkg.cmake").write_text(VCPKG)
    said = run("cmake", f"-DTREE={tree}", f"-DCURRENT_PORT_DIR={port}", "-DPORT=leakgate", f"-DCURRENT_PACKAGES_DIR={package}",
               "-P", scratch / "vcpkg.cmake")
    require_options("the port", definitions(re.search("options: (.*)", said)[1].split(";")))
    require("the port has all in tools/leakgate, and its copyright",
            all((package / "tools/leakgate" / name).is_file() for name in FILES) and
            {path.name for path in package.iterdir()} == {"share", "tools"} and (package / "share/leakgate/copyright").is_file())
    (scratch / "consumer").mkdir()
    (scratch / "consumer/CMakeLists.txt").write_text(CONSUMER)
    run("cmake", "-S", scratch / "consumer", "-B", scratch / "consumer/build", f"-DCMAKE_PREFIX_PATH={package}")


class Conan:
    """In place of the module conan: what the recipe imports, and what it did with it."""

    def __init__(self, tree: pathlib.Path) -> None:
        self.packages: list[str] = []
        self.variables: dict[str, str] = {}
        self.steps: list[str] = []

        def apt(_recipe):
            return types.SimpleNamespace(
                install=lambda names, check=False: self.packages.extend(names),
                install_substitutes=lambda *alternatives: self.packages.extend(sum(alternatives, [])))

        def cmake(recipe):
            return types.SimpleNamespace(
                configure=lambda: self.steps.append("configure"), build=lambda: self.steps.append("build"),
                install=lambda: run("cmake", "--install", tree, "--prefix", recipe.package_folder))

        def copy(_recipe, pattern, src, dst):  # as Conan's: a star stands for folders, too
            for path in pathlib.Path(src).glob(pattern):
                target = pathlib.Path(dst) / path.relative_to(src)
                target.parent.mkdir(parents=True, exist_ok=True)
                (shutil.copytree if path.is_dir() else shutil.copyfile)(path, target)

        self.modules = {
            "conan": {"ConanFile": object},
            "conan.errors": {"ConanInvalidConfiguration": ValueError},
            "conan.tools.cmake": {
                "CMake": cmake, "cmake_layout": lambda recipe: self.steps.append("layout"),
                "CMakeToolchain": lambda recipe: types.SimpleNamespace(
                    cache_variables=self.variables, generate=lambda: self.steps.append("generate"))},
            "conan.tools.files": {"copy": copy},
            "conan.tools.system.package_manager": {"Apt": apt},
        }

    def recipe(self):
        for name, contents in self.modules.items():
            module = sys.modules[name] = types.ModuleType(name)
            vars(module).update(contents)
        scope: dict = {}
        path = PACKAGING / "conan/conanfile.py"
        exec(compile(path.read_text(), path, "exec"), scope)
        recipe = scope["Leakgate"]()
        recipe.recipe_folder = str(path.parent)
        recipe.cpp_info = types.SimpleNamespace(set_property=lambda *_: None)
        return recipe


def packages_of_setup() -> set[str]:
    block = re.search(r"^building=\((.*?)^\)", (ROOT / "ci/setup").read_text(), re.M | re.S)[1]
    words = re.sub(r"#.*", "", block).replace('"', " ").split()
    return set(words) - TOOLS - {"-"}


def try_conan(scratch: pathlib.Path, tree: pathlib.Path) -> None:
    conan = Conan(tree)
    recipe = conan.recipe()
    recipe.set_version()
    require("the recipe has CMake's version", recipe.version == VERSION)
    recipe.settings = types.SimpleNamespace(os="Linux", arch="armv8")
    recipe.validate()
    recipe.settings.os = "Windows"
    try:
        recipe.validate()
        require("the recipe refuses other systems", False)
    except ValueError:
        pass
    recipe.export_sources_folder = str(scratch / "exported")
    recipe.package_folder = str(scratch / "packaged")
    for step in (recipe.export_sources, recipe.layout, recipe.generate, recipe.build, recipe.package, recipe.package_info):
        step()
    require("the recipe builds as Conan's do", conan.steps == ["layout", "generate", "configure", "build"], conan.steps)
    require("the recipe names the packages that ci/setup does", set(conan.packages) == packages_of_setup(),
            set(conan.packages) ^ packages_of_setup())
    require_options("the recipe", conan.variables)
    require("the recipe packages all", all((scratch / "packaged" / name).is_file() for name in FILES))
    run("cmake", "-S", scratch / "exported", "-B", scratch / "exported/build",
        *(f"-D{name}={value}" for name, value in conan.variables.items()))


def try_bazel() -> None:
    modules: dict[str, str] = {}
    repositories: list[str] = []
    scope = {"module": lambda name, version: modules.update({name: version}),
             "bazel_dep": lambda name, version: modules.update({name: version}),
             "use_repo_rule": lambda file, rule: lambda name: repositories.append(f"{file} {rule} {name}")}
    exec((ROOT / "MODULE.bazel").read_text(), scope)
    require("MODULE.bazel has CMake's version", modules["leakgate"] == VERSION)
    require("MODULE.bazel makes the repository that BUILD.bazel names",
            repositories == ["//packaging/bazel:leakgate.bzl leakgate_repository built_leakgate"]
            and "@built_leakgate//:" in (ROOT / "BUILD.bazel").read_text())
    rule = (PACKAGING / "bazel/leakgate.bzl").read_text()
    require_options("the rule", definitions(re.findall(r'"(-D[^"]+)"', rule)))


def try_nix(scratch: pathlib.Path) -> None:
    text = (PACKAGING / "nix/default.nix").read_text()
    require_options("the derivation", definitions(re.findall(r'"(-D[^"]+)"', text)))
    if shutil.which("nix-instantiate") is None:
        print("skipped: no Nix here")
        return
    names = {word for part in re.findall(r"with pkgs; \[(.*?)\]", text) for word in part.split()}
    pkgs = " ".join(f'{name} = "{name}";' for name in sorted(names))
    expression = f"(import {PACKAGING}/nix {{ pkgs = {{ stdenv.mkDerivation = it: it; {pkgs} }}; }}).version"
    said = run("env", f"HOME={scratch}", "nix-instantiate", "--eval", "--store", "dummy://", "-E", expression)
    require("the derivation has CMake's version", said.strip().endswith(f'"{VERSION}"'), said)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="leakgate-packaging-") as folder:
        scratch = pathlib.Path(folder)
        try_vcpkg(scratch, options.tree.resolve())
        try_conan(scratch, options.tree.resolve())
        try_bazel()
        try_nix(scratch)


if __name__ == "__main__":
    main()
