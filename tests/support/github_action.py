"""The steps of action.yml, as GitHub's runner would run them."""
import dataclasses
import pathlib
import re

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What the runner does in each step with files that earlier steps have written.
TAKE_OVER = 'if [ -e "$GITHUB_PATH" ]; then while read -r folder; do PATH=$folder:$PATH; done <"$GITHUB_PATH"; fi\n'


@dataclasses.dataclass
class Step:
    script: str
    variables: dict[str, str]


def read_yaml(path: pathlib.Path) -> dict:
    # `on:` is a word, not true.
    return yaml.load(path.read_text(), Loader=yaml.BaseLoader)


def runner_variables(temporary: str) -> dict[str, str]:
    names = ("GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")
    return {"RUNNER_TEMP": temporary, **{name: f"{temporary}/{name.lower()}" for name in names}}


def action_steps(given: dict[str, str], action_folder: str) -> list[Step]:
    """The `run:` steps for these inputs. Of the others, which are actions of GitHub's, there is only its cache."""
    action = read_yaml(ROOT / "action.yml")
    unknown = given.keys() - action["inputs"].keys()
    assert not unknown, f"the action has no such inputs: {unknown}"
    assert not any(value.get("required") for value in action["inputs"].values()), "an input is required"
    values = {f"inputs.{name}": given.get(name, value["default"]) for name, value in action["inputs"].items()}
    values["github.action_path"] = action_folder

    def filled_in(text: str) -> str:
        return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda found: values[found[1]], text)

    assert action["runs"]["using"] == "composite"
    steps = []
    for step in action["runs"]["steps"]:
        if "run" not in step:
            assert step["uses"].startswith("actions/cache@"), step
            continue
        assert step["shell"] == "bash"
        variables = {name: filled_in(value) for name, value in step.get("env", {}).items()}
        steps.append(Step(TAKE_OVER + filled_in(step["run"]), variables))
    return steps
