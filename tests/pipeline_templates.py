#!/usr/bin/env python3
"""Reads each template of ci/templates as its system does, runs its commands, and looks
for the files that it publishes: once with tests within budget, and once with a leak.

What a pipeline has around it (apt-get, cmake, ...) are stand-ins that do nothing.
"""
import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEMPLATES = ROOT / "ci/templates"
STAND_INS = ("apt-get", "cmake", "buildkite-agent")


@dataclasses.dataclass
class Job:
    scripts: list[str]
    published: list[str]  # files, which must be there even where a test leaks
    variables: dict[str, str] = dataclasses.field(default_factory=dict)


def load(path: str) -> dict:
    # GitHub's `on:` is a word, not true.
    return yaml.load((TEMPLATES / path).read_text(), Loader=yaml.BaseLoader)


def github() -> Job:
    action, workflow = load("github/action.yml"), load("github/workflow.yml")
    steps = workflow["jobs"]["leaks"]["steps"]
    use, = (step for step in steps if step.get("uses") == "./.github/actions/leakgate")
    inputs = {name: value.get("default") for name, value in action["inputs"].items()} | use["with"]
    assert set(inputs) == set(action["inputs"]), f"the action has no such inputs: {inputs}"
    required = [name for name, value in action["inputs"].items() if value.get("required")]
    assert set(required) <= set(use["with"]), "the workflow leaves out a required input"
    assert action["runs"]["using"] == "composite" and all("shell" in step for step in action["runs"]["steps"])
    variables = {}
    for step in action["runs"]["steps"]:
        for name, value in step["env"].items():
            variables[name] = inputs[re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", value).group(1)]
    upload, = (step for step in steps if "upload-sarif" in step.get("uses", ""))
    assert upload["if"] == "always()"
    scripts = [step["run"] for step in (*steps, *action["runs"]["steps"]) if "run" in step]
    variables["GITHUB_STEP_SUMMARY"] = "summary.md"
    return Job(scripts, [upload["with"]["sarif_file"], "summary.md"], variables)


def gitlab() -> Job:
    job = load("gitlab/leakgate.gitlab-ci.yml")["leaks"]
    assert job["artifacts"]["when"] == "always"
    return Job(job["before_script"] + job["script"], list(job["artifacts"]["reports"].values()))


def azure() -> Job:
    steps = load("azure/azure-pipelines.yml")["steps"]
    tasks = [step for step in steps if "task" in step]
    assert all(task["condition"] == "always()" for task in tasks)
    inputs = [task["inputs"] for task in tasks]
    published = [given.get("testResultsFiles") or given.get("pathToPublish") for given in inputs]
    return Job([step["script"] for step in steps if "script" in step], published)


def buildkite() -> Job:
    step, = load("buildkite/pipeline.yml")["steps"]
    # Buildkite itself takes $NAME; a script writes $$ for the shell's.
    assert not re.search(r"(?<!\$)\$(?!\$)", "".join(step["commands"])), "a $ that Buildkite would take"
    return Job([command.replace("$$", "$") for command in step["commands"]], step["artifact_paths"])


def jenkins() -> Job:
    text = (TEMPLATES / "jenkins/Jenkinsfile").read_text()
    scripts = [long or short for long, short in re.findall(r"sh (?:'''(.*?)'''|'([^'\n]*)')", text, flags=re.S)]
    rest = re.sub(r"'''.*?'''|'[^'\n]*'", "", text, flags=re.S)
    assert "'" not in rest and rest.count("{") == rest.count("}") and rest.count("(") == rest.count(")")
    assert re.match(r"pipeline \{\n  agent .*\n  stages \{\n.*\n  post \{\n    always \{\n", rest, flags=re.S)
    # In ''' of Groovy a backslash before a line's end joins the lines, as in the shell.
    return Job(scripts, re.findall(r"(?:junit |pattern: )'([^']*)'", text))


def prepare(scratch: pathlib.Path, binary: pathlib.Path, leakgate: pathlib.Path) -> dict[str, str]:
    shutil.copytree(ROOT / "examples/with_budgets", scratch / "tests")
    (scratch / "build").mkdir()
    shutil.copy(binary, scratch / "build/my_tests")
    (scratch / "third_party").mkdir()
    (scratch / "third_party/leakgate_0.1.0_amd64.deb").touch()
    (scratch / "bin").mkdir()
    for name in STAND_INS:
        (scratch / "bin" / name).write_text("#!/bin/sh\nexit 0\n")
    (scratch / "bin/sudo").write_text('#!/bin/sh\nexec "$@"\n')
    for tool in (scratch / "bin").iterdir():
        tool.chmod(0o755)
    return {**os.environ, "PATH": f"{scratch / 'bin'}:{leakgate.parent}:{os.environ['PATH']}"}


def problems_of(job: Job, binary: pathlib.Path, leakgate: pathlib.Path, expected: int) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="leakgate-pipeline-") as folder:
        scratch = pathlib.Path(folder)
        environment = prepare(scratch, binary, leakgate) | job.variables
        status, said = 0, ""
        for script in job.scripts:
            done = subprocess.run(["bash", "-e", "-c", script], cwd=scratch, env=environment,
                                  capture_output=True, text=True, check=False)
            status, said = done.returncode, said + done.stdout + done.stderr
            if status != 0:
                break
        problems = [] if status == expected else [f"exit code {status}, not {expected}:\n{said}"]
        return problems + [f"publishes {name}, which is not there or empty:\n{said}" for name in job.published
                           if not (scratch / name).exists() or not (scratch / name).stat().st_size]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--leakgate", type=lambda text: pathlib.Path(text).resolve(), required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    options = parser.parse_args()
    failed = False
    for system in (github, gitlab, jenkins, azure, buildkite):
        job = system()
        assert any("leakgate run " in script for script in job.scripts) and job.published
        for example, expected in (("with_budgets", 0), ("minimal", 1)):
            problems = problems_of(job, options.build / f"examples/example_{example}", options.leakgate, expected)
            failed = failed or bool(problems)
            print(f"{'WRONG' if problems else 'ok   '} {system.__name__}, {example}: "
                  f"exits with {expected}, publishes {', '.join(job.published)}")
            print("".join(f"      {problem}\n" for problem in problems), end="")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
