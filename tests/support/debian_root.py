"""Roots of Debian's releases, which debootstrap makes, and commands that are run in them. Needs root and debootstrap."""
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from own_apt import debian_release  # noqa: E402: found by the line above

# It has a mount and a process namespace of its own: all that is mounted or started there ends with it.
IN_NAMESPACE = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private", "sh", "-ec"]
ENTER = """
mount -t proc proc "$0/proc"
mount --rbind /dev "$0/dev"
mount -t tmpfs -o mode=1777 tmpfs "$0/dev/shm"
exec chroot "$0" env -i HOME=/root PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
  sh -c 'cd "$0" && exec sh -c "$1"' "$1" "$2"
"""


class Failure(Exception):
    pass


class Root:
    """The files of a release, and the commands that were run in it, each in the folder `/NAME` there."""

    def __init__(self, folder: pathlib.Path, release: str, name: str) -> None:
        self.files = folder / release
        self._log = folder / f"{release}.log"
        self._log.unlink(missing_ok=True)
        self._release = release
        self.name = name

    @property
    def folder(self) -> pathlib.Path:
        return self.files / self.name

    def make(self) -> None:
        self.remove()
        self._run_logged(["debootstrap", "--variant=minbase", self._release, str(self.files), debian_release()[1]])
        # A mirror may lag behind; signatures are checked all the same.
        settings = self.files / "etc/apt/apt.conf.d/90mirror"
        settings.write_text('Acquire::Check-Valid-Until "false";\n')
        self.folder.mkdir()

    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def remove(self) -> None:
        if self.files.exists():
            shutil.rmtree(self.files)

    def command(self, command: str) -> list[str]:
        return [*IN_NAMESPACE, ENTER, str(self.files), f"/{self.name}", command]

    def run(self, command: str) -> int:
        """Returns how many seconds it took."""
        begin = time.monotonic()
        self._run_logged(self.command(command))
        return round(time.monotonic() - begin)

    def answer(self, command: str) -> str:
        done = subprocess.run(self.command(command), capture_output=True, text=True, check=False)
        return done.stdout.strip()

    def version(self, packages: str) -> str:
        """Upstream's version of the first of the packages that is installed."""
        versions = self.answer(f"dpkg-query -W -f='${{Version}}\\n' {packages} 2>/dev/null")
        return re.sub(r"^\d+:|[-+].*$", "", versions.splitlines()[0]) if versions else "none"

    def _run_logged(self, command: list[str]) -> None:
        with self._log.open("a") as log:
            log.write(f"$ {shlex.join(command[-1:])}\n")
            log.flush()
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False)
        if done.returncode != 0:
            tail = self.log()[-3000:]
            raise Failure(f"{command[-1]}: exit code {done.returncode}; the end of {self._log}:\n{tail}")
