"""An apt of the tests' own: its list of sources and all that it writes are below a folder of
theirs, so that nothing of the machine is changed, and nothing is installed."""
import pathlib
import shutil
import subprocess

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def debian_release() -> tuple[str, str]:
    """The release's code name, and the mirror that this machine uses for it."""
    lines = pathlib.Path("/etc/os-release").read_text().splitlines()
    code_name = dict(line.split("=", 1) for line in lines if "=" in line)["VERSION_CODENAME"]
    targets = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(RELEASE) $(COMPONENT) $(REPO_URI)", "Created-By: Packages"],
        capture_output=True, text=True, check=False).stdout.splitlines()
    for release, component, mirror in (line.split() for line in targets):
        if (release, component) == (code_name, "main"):
            return code_name, mirror
    return code_name, "http://deb.debian.org/debian/"


class OwnApt:
    """`kind` is deb or deb-src; without releases, mirror and architecture they are this machine's."""

    def __init__(self, folder: pathlib.Path, kind: str, releases: tuple[str, ...] = (), mirror: str | None = None,
                 architecture: str | None = None) -> None:
        for name in ("lists/partial", "cache/archives/partial", "parts"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        code_name, own_mirror = debian_release()
        mirror = mirror or own_mirror
        (folder / "sources.list").write_text("".join(
            f"{kind} [signed-by={KEYRING}] {mirror} {release} main\n" for release in releases or (code_name,)))
        settings = {
            "Dir::Etc::SourceList": folder / "sources.list",
            "Dir::Etc::SourceParts": folder / "parts",
            "Dir::State::Lists": folder / "lists",
            "Dir::Cache": folder / "cache",
            # What the machine has installed, it would take for newer.
            "Dir::State::status": "/dev/null",
            # Its own user may not reach a checkout in somebody's home.
            "APT::Sandbox::User": "root",
        }
        if architecture is not None:
            settings |= {"APT::Architecture": architecture, "APT::Architectures": architecture}
        self._options = ["-qq", *(word for name, value in settings.items() for word in ("-o", f"{name}={value}"))]

    def run(self, *words: str, **options) -> None:
        subprocess.run(["apt-get", *self._options, *words], check=True, **options)

    def source(self, package: str, folder: pathlib.Path) -> pathlib.Path:
        """The folder in `folder` that the source package was unpacked to."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.run("update")
        self.run("source", "--only-source", package, cwd=folder, stdout=subprocess.DEVNULL)
        return next(path for path in folder.iterdir() if path.is_dir())

    def unpack(self, packages: list[str], folder: pathlib.Path) -> None:
        """Binary packages (NAME or NAME/RELEASE), as they are installed, below `folder`."""
        archives = folder / "archives"
        shutil.rmtree(archives, ignore_errors=True)
        archives.mkdir(parents=True)
        self.run("download", *packages, cwd=archives, stdout=subprocess.DEVNULL)
        for archive in archives.iterdir():
            subprocess.run(["dpkg", "-x", str(archive), str(folder)], check=True)
