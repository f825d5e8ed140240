#!/usr/bin/env python3
"""Pastes each template of ci/templates, and action.yml, into an empty project, and does what its system would do:
runs the commands, with an archive of leakgate to download: with tests that are not under the gate, that pass, and that
leak. Those that leak, and those that are not gated, must fail the job. The leak is in the files that it publishes.

With --build it runs them on this machine. The archive is what that build installs. /usr/local
is a folder of the test's in a mount namespace; apt-get, sudo and buildkite-agent are stand-ins.

With --archive, which ci/package has made, it runs them in a root of Debian 13 that debootstrap makes for each: nothing
is a stand-in there but sudo and buildkite-agent. Ubuntu 24.04, which the templates name, lies between Debian 12 and
13, and its packages are not in Debian's archive. Both need root.

Usage: pipeline_templates.py --build FOLDER [SYSTEM...]
       pipeline_templates.py --archive FILE [SYSTEM...]
"""
import argparse
import dataclasses
import hashlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/support"))
from debian_root import Root  # noqa: E402: found by the line above
from github_action import action_steps, read_yaml, runner_variables  # noqa: E402

TEMPLATES = ROOT / "ci/templates"
VERSION = re.search(r"project\(leakgate VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
ADDRESS = f"https://example.com/leakgate-{VERSION}-linux-x86_64.tar.gz"
CHECKSUM = "the checksum in SHA256SUMS"
SKIPPED = 77

# What the images of GitHub's and Azure's machines have.
MACHINE = "ca-certificates curl cmake g++ make"
STAND_INS = {"sudo": 'exec "$@"', "buildkite-agent": '[ "$1" = annotate ] && cat >annotation.md'}
TESTS = """#include <gtest/gtest.h>
#include <cstdlib>
TEST(Queue, DropsNothing) {
  int* volatile item = new int(1);
  if (std::getenv("LEAK") == nullptr) delete item;
}
"""
PROJECT = """cmake_minimum_required(VERSION 3.18)
project(my_tests LANGUAGES CXX)
enable_testing()
find_package(GTest REQUIRED)
add_executable(my_tests my_tests.cpp)
target_link_libraries(my_tests PRIVATE GTest::gtest_main)
"""


@dataclasses.dataclass
class Step:
    script: str
    shell: str = "bash -e"
    variables: dict[str, str] = dataclasses.field(default_factory=dict)
    always: bool = False  # also after a step that failed


@dataclasses.dataclass
class Job:
    steps: list[Step]
    published: list[str]  # files, which must tell of the leak
    cache: str
    variables: dict[str, str]
    has_compiler: bool = False  # where it runs


@dataclasses.dataclass
class Archive:
    url: str
    sha256: str

    def replaces(self, variables: dict[str, str]) -> dict[str, str]:
        """Variables with what the template has people set."""
        assert (variables["LEAKGATE_URL"], variables["LEAKGATE_SHA256"]) == (ADDRESS, CHECKSUM), variables
        return variables | {"LEAKGATE_URL": self.url, "LEAKGATE_SHA256": self.sha256}


class Here:
    """This machine, but for /usr/local and stand-ins."""

    def __init__(self, scratch: pathlib.Path) -> None:
        self.folder = self.files = scratch / "project"
        self.home = scratch / "home"
        self._local = scratch / "local"
        for folder in (self.files, self.home, self._local / "bin"):
            folder.mkdir(parents=True)
        add_stand_ins(self._local / "bin", STAND_INS | {"apt-get": "exit 0"})

    def install_compiler(self) -> None:
        """It has one."""

    def command(self, script: str) -> list[str]:
        enter = f'mount --bind {shlex.quote(str(self._local))} /usr/local; cd "$0"; export HOME="$1"; exec bash -c "$2"'
        return ["unshare", "--mount", "--propagation", "private", "sh", "-ec", enter, str(self.folder), str(self.home),
                f"PATH=/usr/local/bin:$PATH\n{script}"]


class InRoot:
    """A release of Debian's in which nothing is installed."""

    def __init__(self, made: Root, scratch: pathlib.Path, archive: pathlib.Path) -> None:
        scratch.mkdir()
        self._root = Root(scratch, made.files.name, made.name)
        subprocess.run(["cp", "-a", made.files, self._root.files], check=True)
        self.folder, self.files = pathlib.Path(f"/{made.name}"), self._root.folder
        self.home = self._root.files / "root"
        shutil.copy(archive, self._root.files / "archive.tar.gz")
        add_stand_ins(self._root.files / "usr/local/bin", STAND_INS)

    def install_compiler(self) -> None:
        self._root.run(f"apt-get update -qq && apt-get install -y -qq --no-install-recommends {MACHINE}")

    def command(self, script: str) -> list[str]:
        return self._root.command(f"exec bash -c {shlex.quote(script)}")


def add_stand_ins(folder: pathlib.Path, scripts: dict[str, str]) -> None:
    for name, script in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)


def github(place: Here | InRoot, archive: Archive) -> Job:
    job = read_yaml(TEMPLATES / "github/workflow.yml")["jobs"]["leaks"]
    assert job["runs-on"] == "ubuntu-24.04"
    _, install, use = job["steps"]
    assert use["uses"] == f"OWNER/leakgate@v{VERSION}" and use["with"] == {"url": ADDRESS, "sha256": CHECKSUM}
    return github_job(place, {"url": archive.url, "sha256": archive.sha256}, [Step(install["run"])])


def github_job(place: Here | InRoot, inputs: dict[str, str], before: list[Step]) -> Job:
    (place.files / "runner").mkdir(exist_ok=True)
    variables = runner_variables(str(place.folder / "runner"))
    steps = [Step(step.script, "bash --noprofile --norc -eo pipefail", step.variables)
             for step in action_steps(inputs, "/nowhere")]
    cache, = (step["with"]["path"] for step in read_yaml(ROOT / "action.yml")["runs"]["steps"] if "uses" in step)
    return Job([*before, *steps], ["leakgate.sarif", "runner/github_step_summary"], cache, variables, has_compiler=True)


def gitlab(_: Here | InRoot, archive: Archive) -> Job:
    job = read_yaml(TEMPLATES / "gitlab/leakgate.gitlab-ci.yml")["leaks"]
    assert job["image"] == "ubuntu:24.04" and job["artifacts"]["when"] == "always"
    # GitLab has the first two lists in one shell, and the last in one of its own.
    steps = [Step("\n".join(job["before_script"] + job["script"]), "bash -eo pipefail"),
             Step("\n".join(job["after_script"]), "bash -eo pipefail", always=True)]
    cache, = job["cache"]["paths"]
    return Job(steps, list(job["artifacts"]["reports"].values()), cache, archive.replaces(job["variables"]))


def azure(place: Here | InRoot, archive: Archive) -> Job:
    pipeline = read_yaml(TEMPLATES / "azure/azure-pipelines.yml")
    assert pipeline["pool"]["vmImage"] == "ubuntu-24.04"
    variables = archive.replaces(pipeline["variables"])
    variables["XDG_CACHE_HOME"] = variables["XDG_CACHE_HOME"].replace("$(Pipeline.Workspace)", str(place.folder))
    tasks = {step["task"]: step for step in pipeline["steps"] if "task" in step}
    publish = tasks["PublishTestResults@2"]
    assert publish["condition"] == "always()"
    steps = [Step(step["script"], "bash --noprofile --norc", always=step.get("condition") == "always()")
             for step in pipeline["steps"] if "script" in step]
    cache = tasks["Cache@2"]["inputs"]["path"].replace("$(XDG_CACHE_HOME)", ".cache")
    return Job(steps, [publish["inputs"]["testResultsFiles"]], cache, variables, has_compiler=True)


def buildkite(_: Here | InRoot, archive: Archive) -> Job:
    step, = read_yaml(TEMPLATES / "buildkite/pipeline.yml")["steps"]
    plugin, = (value for plugin in step["plugins"] for value in plugin.values())
    assert plugin["image"] == "ubuntu:24.04" and set(plugin["environment"]) == set(step["env"])
    script = "\n".join(step["commands"])
    # Buildkite itself takes $NAME; a script writes $$ for the shell's.
    assert not re.search(r"(?<!\$)\$(?!\$)", script), "a $ that Buildkite would take"
    volume, = plugin["volumes"]
    return Job([Step(script.replace("$$", "$"), "sh -e")], [*step["artifact_paths"], "annotation.md"],
               volume.partition(":")[2].replace("/root", "~"), archive.replaces(step["env"]))


def jenkins(_: Here | InRoot, archive: Archive) -> Job:
    text = (TEMPLATES / "jenkins/Jenkinsfile").read_text()
    assert "image 'ubuntu:24.04'" in text
    scripts = re.findall(r"sh '''(.*?)'''", text, flags=re.S)
    rest = re.sub(r"'''.*?'''|'[^'\n]*'", "", text, flags=re.S)
    assert "'" not in rest and rest.count("{") == rest.count("}") and rest.count("(") == rest.count(")")
    assert re.match(r"pipeline \{\n  agent .*\n  stages \{\n.*\n  post \{\n    always \{\n", rest, flags=re.S)
    cache, = re.findall(r"-v [\w-]+:/root(\S+)'", text)
    variables = dict(re.findall(r"^    (\w+) = '(.*)'$", text, flags=re.M))
    return Job([Step(script, "sh -xe") for script in scripts], re.findall(r"junit '([^']*)'", text), f"~{cache}",
               archive.replaces(variables))


def run(place: Here | InRoot, job: Job, variables: dict[str, str]) -> tuple[int, str]:
    status, said = 0, ""
    for step in job.steps:
        if status != 0 and not step.always:
            continue
        exported = "".join(f"export {name}={shlex.quote(value)}\n"
                           for name, value in (job.variables | step.variables | variables).items())
        done = subprocess.run(place.command(f"{exported}exec {step.shell} -c {shlex.quote(step.script)}"),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
        status, said = status or done.returncode, said + done.stdout + done.stderr
    return status, said


def lines_of_readme() -> str:
    lines, = re.findall(r"^```cmake\n(.*?)^```", (TEMPLATES / "README.md").read_text(), flags=re.M | re.S)
    return lines


class Tried:
    def __init__(self) -> None:
        self.failed = False

    def tell(self, what: str, is_right: bool, said: str) -> None:
        print(f"{'ok   ' if is_right else 'WRONG'} {what}", flush=True)
        if not is_right:
            self.failed = True
            print(said[-5000:])


def try_job(name: str, place: Here | InRoot, job: Job, tried: Tried) -> None:
    (place.files / "my_tests.cpp").write_text(TESTS)
    project = place.files / "CMakeLists.txt"
    project.write_text(f"{PROJECT}add_test(NAME my_tests COMMAND my_tests)\n")
    status, said = run(place, job, {})
    tried.tell(f"{name}: tests that nobody gates: exit code {status}", status == 2, said)
    project.write_text(PROJECT + lines_of_readme())
    status, said = run(place, job, {})
    tried.tell(f"{name}: tests that pass: exit code {status}", status == 0, said)
    status, said = run(place, job, {"LEAK": "1"})
    tried.tell(f"{name}: a leak: exit code {status}", status in (1, 8), said)
    for file in job.published:
        path = place.files / file
        tells = path.exists() and "DropsNothing" in path.read_text()
        tried.tell(f"{name}: {file} tells of the leak", tells, said)
    cache = place.home / job.cache[2:] if job.cache.startswith("~/") else place.files / job.cache
    tried.tell(f"{name}: {job.cache} is kept", cache.is_dir() and any(cache.iterdir()), said)


def try_action(place: Here | InRoot, archive: Archive, tried: Tried) -> None:
    """What no template shows."""
    inputs = {"url": archive.url, "sha256": archive.sha256, "command": "build/my_tests"}
    status, said = run(place, github_job(place, inputs, []), {"LEAK": "1"})
    tells = "::error" in said and "Queue.DropsNothing" in said
    tried.tell(f"action: a test binary that leaks: exit code {status}", status == 1 and tells, said)
    status, said = run(place, github_job(place, inputs | {"command": "build/missing"}, []), {})
    tried.tell(f"action: a test binary that is missing: exit code {status}", status == 2, said)
    status, said = run(place, github_job(place, inputs | {"command": "", "test-dir": "tests", "build": "mkdir tests"}, []), {})
    tried.tell(f"action: CTest has no tests: exit code {status}", status != 0, said)
    for given, line in (({"sha256": "0" * 64}, f"leakgate: the archive at {archive.url} has the checksum {archive.sha256}"),
                        ({"url": "file:///missing.tar.gz"}, "leakgate: cannot download file:///missing.tar.gz")):
        status, said = run(place, github_job(place, inputs | given, []), {})
        errors = [text for text in said.splitlines() if text.startswith("::error::")]
        is_right = status == 2 and len(errors) == 1 and errors[0].startswith(f"::error::{line}")
        tried.tell(f"action: {line}: exit code {status}", is_right, said)


def make_archive(build: pathlib.Path, scratch: pathlib.Path) -> Archive:
    installed = scratch / f"leakgate-{VERSION}"
    subprocess.run(["cmake", "--install", build, "--strip", "--prefix", installed], check=True,
                   stdout=subprocess.DEVNULL)
    archive = scratch / "archive.tar.gz"
    subprocess.run(["tar", "-C", scratch, "-I", "gzip -1", "-cf", archive, installed.name], check=True)
    return Archive(archive.as_uri(), hashlib.sha256(archive.read_bytes()).hexdigest())


def main() -> None:
    systems = {system.__name__: system for system in (github, gitlab, jenkins, azure, buildkite)}
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--archive", type=pathlib.Path)
    parser.add_argument("systems", nargs="*", choices=[[], *systems])
    options = parser.parse_args()
    if os.geteuid() != 0 or (options.archive and not shutil.which("debootstrap")):
        print("pipelines: skipped: needs root, and debootstrap with --archive")
        sys.exit(SKIPPED)
    tried = Tried()
    with tempfile.TemporaryDirectory(prefix="leakgate-pipelines-", dir=options.build) as folder:
        scratch = pathlib.Path(folder).resolve()
        if options.archive is None:
            archive = make_archive(options.build, scratch)
            make_place = lambda name: Here(scratch / name)  # noqa: E731
        else:
            archive = Archive("file:///archive.tar.gz", hashlib.sha256(options.archive.read_bytes()).hexdigest())
            root = Root(scratch, "trixie", "project")
            root.make()
            make_place = lambda name: InRoot(root, scratch / name, options.archive)  # noqa: E731
        for name in options.systems or systems:
            place = make_place(name)
            job = systems[name](place, archive)
            if job.has_compiler:
                place.install_compiler()
            try_job(name, place, job, tried)
            if name == "github":
                try_action(place, archive, tried)
    sys.exit(1 if tried.failed else 0)


if __name__ == "__main__":
    main()
