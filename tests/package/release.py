#!/usr/bin/env python3
"""Tries ci/release in a repository of its own, whose ci/package only writes small files: tests/nightly/run has the real
one make a release.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = """#!/bin/sh
folder=build/package; deb=amd64; processor=x86_64
case "$1" in
--aarch64) folder=build/package-aarch64; deb=arm64; processor=aarch64 ;;
--windows) folder=build/package-windows ;;
esac
cd "$(dirname "$0")/.."; rm -rf $folder; mkdir -p $folder/packages; cd $folder/packages
version=$(sed -n 's/^project(leakgate VERSION \\([^ ]*\\).*/\\1/p' ../../../CMakeLists.txt)
names="leakgate-$version-linux-$processor.tar.gz leakgate_${version}_$deb.deb leakgate-dev_${version}_$deb.deb"
if [ "$1" = --windows ]; then names=leakgate-$version-windows-x86_64.zip; fi
for name in $names; do
  echo "$name" >"$name"
done
"""


class Repository:
    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        (folder / "ci").mkdir()
        shutil.copy(ROOT / "ci/release", folder / "ci")
        (folder / "ci/package").write_text(PACKAGE)
        (folder / "ci/package").chmod(0o755)
        (folder / ".gitignore").write_text("/build/\n")
        (folder / "CHANGELOG.md").write_text("# Changes\n")
        self.git("init", "--quiet")
        self.commit("Begin", version="0.1.0")

    def git(self, *words: str) -> None:
        identity = ("-c", "user.name=Test", "-c", "user.email=test@localhost")
        subprocess.run(["git", *identity, *words], cwd=self.folder, check=True)

    def commit(self, subject: str, version: str) -> None:
        (self.folder / "CMakeLists.txt").write_text(f"project(leakgate VERSION {version} LANGUAGES CXX)\n")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", subject)

    def release(self, *words: str, says: str, exit_code: int) -> None:
        done = subprocess.run(["ci/release", *words], cwd=self.folder, capture_output=True, text=True, check=False)
        said = done.stdout + done.stderr
        if done.returncode != exit_code or says not in said:
            sys.exit(f"ci/release {words}: exit code {done.returncode}, not {exit_code} with '{says}':\n{said}")
        print(f"ok    {says}")

    def require(self, name: str, *texts: str) -> None:
        text = (self.folder / name).read_text()
        missing = [expected for expected in texts if expected not in text]
        if missing:
            sys.exit(f"{name} has no {missing}:\n{text}")
        print(f"ok    {name}")


def try_release(repository: Repository) -> None:
    repository.release("0.2.0", says="CMakeLists.txt has the version 0.1.0, not 0.2.0", exit_code=1)
    repository.release(says="write the first entry, ## 0.1.0, into CHANGELOG.md by hand", exit_code=1)
    (repository.folder / "CHANGELOG.md").write_text("# Changes\n\n## 0.1.0\nThe first.\n")
    repository.release("0.1.0", says="build/releases/0.1.0 has 0.1.0", exit_code=0)
    repository.require("build/releases/0.1.0/NOTES.md", "# leakgate 0.1.0\nThe first.\n", "x86_64 or aarch64", "For Windows, unpack")
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], check=True,
                   cwd=repository.folder / "build/releases/0.1.0")
    repository.require("build/releases/0.1.0/SHA256SUMS", *(f"  {name}\n" for name in (
        "leakgate-0.1.0-linux-x86_64.tar.gz", "leakgate_0.1.0_amd64.deb", "leakgate-dev_0.1.0_amd64.deb",
        "leakgate-0.1.0-linux-aarch64.tar.gz", "leakgate_0.1.0_arm64.deb", "leakgate-dev_0.1.0_arm64.deb",
        "leakgate-0.1.0-windows-x86_64.zip")))

    repository.commit("Release 0.1.0", version="0.1.0")
    repository.git("tag", "v0.1.0")
    repository.release(says="there is a tag v0.1.0 already: raise the version in CMakeLists.txt", exit_code=1)
    repository.commit("Gate faster", version="0.1.0")
    repository.commit("Raise the version", version="0.10.0")
    (repository.folder / "forgotten").touch()
    repository.release(says="commit what is to be released: ?? forgotten", exit_code=1)
    repository.release("--trial", says="build/releases/0.10.0 has 0.10.0", exit_code=0)
    repository.require("CHANGELOG.md", "# Changes\n\n## 0.1.0\nThe first.\n")
    (repository.folder / "forgotten").unlink()
    repository.release(says="CHANGELOG.md has an entry for 0.10.0, of the commits since v0.1.0", exit_code=0)
    repository.require("CHANGELOG.md", "# Changes\n\n## 0.10.0 (", ")\n- Raise the version\n- Gate faster\n\n## 0.1.0\nThe first.\n")
    repository.require("build/releases/0.10.0/NOTES.md", "# leakgate 0.10.0\n- Raise the version\n- Gate faster\n\n## Install")
    (repository.folder / "ci/package").write_text("#!/bin/sh\nexit 1\n")
    repository.git("commit", "--quiet", "--all", "--message", "Fail")
    repository.release(says="ci/package failed for x86_64", exit_code=1)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="leakgate-release-") as folder:
        try_release(Repository(pathlib.Path(folder)))


if __name__ == "__main__":
    main()
