"""A virtual aarch64 machine on another processor: Debian's arm64 packages unpacked into a root, and QEMU, which runs
a command on a kernel of theirs. Nothing of this machine is changed but the folder.

What QEMU translates has none of a real processor's reordering of memory accesses, and its times mean nothing. All
else is the kernel's and the processor's: ptrace, signals, memory, signed return addresses."""
import concurrent.futures
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from own_apt import KEYRING, debian_release  # noqa: E402

# This machine's packages that building for the other and running there take.
TOOLS = {"qemu-system-aarch64": "qemu-system-arm", "aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu",
         "mmdebstrap": "mmdebstrap", "depmod": "kmod", "cpio": "cpio", "qemu-aarch64-static": "qemu-user-static", "mke2fs": "e2fsprogs"}
MORE_TOOLS = ("ipxe-qemu", "arch-test", "gcc-aarch64-linux-gnu")  # that have no program by which to tell
# The other machine's: its system, what leakgate is linked with, and what its tests use.
SYSTEM = ("base-files", "base-passwd", "bash", "binutils", "busybox-static", "coreutils", "dash", "diffutils",
          "findutils", "gawk", "grep", "kmod", "libc-bin", "linux-image-arm64", "mount", "procps", "python3", "sed",
          "strace", "util-linux")
LIBRARIES = ("libc6-dev", "libstdc++-12-dev", "libgcc-12-dev", "libboost1.81-dev", "libboost-filesystem1.81-dev",
             "nlohmann-json3-dev", "libcli11-dev", "libfmt-dev", "libexpected-dev", "libdw-dev", "libelf-dev",
             "libpugixml-dev", "zlib1g-dev", "libsqlite3-dev", "libxxhash-dev", "libminizip-dev", "libzstd-dev",
             "libbz2-dev", "liblzma-dev", "libgtest-dev", "libgmock-dev", "googletest", "libvalijson-dev",
             "libunwind-dev", "libgoogle-perftools-dev", "libjemalloc-dev", "libjemalloc2", "libmimalloc2.0",
             "libbenchmark-dev", "libcap2-bin", "libxml2-utils", "redis-server", "sqlite3", "valgrind", "g++", "cmake",
             "libdebuginfod1", "git", "gzip", "make", "protobuf-compiler", "libdevel-nytprof-perl", "perl", "bsdutils")
MODULES = ("virtio_pci", "virtio_blk", "crc32c_generic", "ext4", "9pnet_virtio", "9p", "overlay")
LARGE_PAGES = "16k"

INIT = """#!/bin/busybox sh
B=/bin/busybox
$B mount -t proc proc /proc; $B mount -t sysfs sys /sys; $B mount -t devtmpfs dev /dev
while read module; do $B insmod /modules/$module || echo "no $module"; done < /modules/order
$B mount -t tmpfs tmpfs /upper; $B mkdir /upper/files /upper/work
$B mount -t ext4 -o ro,noload /dev/vda /lower
$B mount -t overlay -o lowerdir=/lower,upperdir=/upper/files,workdir=/upper/work overlay /root
$B mkdir -p /root/command /root/proc /root/sys /root/dev /root/tmp
$B mount -t tmpfs tmpfs /root/tmp; $B mount -t tmpfs tmpfs /root/run
share="-t 9p -o trans=virtio,version=9p2000.L,msize=1048576"
$B mount $share,cache=mmap command /root/command
while read tag folder; do
  $B mkdir -p "/root$folder" && $B mount $share,cache=loose,ro $tag "/root$folder"
done < /root/command/folders
$B mount --move /proc /root/proc; $B mount --move /sys /root/sys; $B mount --move /dev /root/dev
$B mkdir -p /root/dev/shm /root/dev/pts
$B mount -t tmpfs tmpfs /root/dev/shm; $B mount -t devpts pts /root/dev/pts
exec $B switch_root /root /bin/bash /command/begin
"""
BEGIN = """export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb
ln -sfn /proc/self/fd /dev/fd; ln -sfn /proc/self/fd/0 /dev/stdin; ln -sfn /proc/self/fd/1 /dev/stdout
ln -sfn /proc/self/fd/2 /dev/stderr
ip link set lo up 2>/dev/null || busybox ip link set lo up
cd /tmp
timeout -k 10 $(cat /command/seconds) bash /command/script >/command/output 2>&1 </dev/null
echo $? >/command/status
sync
echo o >/proc/sysrq-trigger
sleep 100
"""


class Unavailable(Exception):
    """What the machine needs cannot be had here; the message says what."""


def _run(*words: object, **options) -> None:
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False, **options)
    if done.returncode != 0:
        raise Unavailable(f"{words[0]} failed: {done.stdout.strip().splitlines()[-1:] or done.returncode}")


def install_tools() -> None:
    """Installs what is missing, as root; raises Unavailable if it cannot."""
    missing = [package for program, package in TOOLS.items() if not shutil.which(program)]
    if not missing:
        return
    if os.geteuid() != 0:
        raise Unavailable(f"missing {', '.join(missing)}: install them, or run this as root")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    _run("apt-get", "update", "-qq", env=environment)
    _run("apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing, *MORE_TOOLS, env=environment)


def build_for(machine: "ArmMachine", source: pathlib.Path, tree: pathlib.Path, targets: tuple[str, ...]) -> None:
    """Builds `targets` in `tree`, the build folder of the preset; raises CalledProcessError."""
    environment = {**os.environ, "LEAKGATE_ARM_ROOT": str(machine.root)}
    subprocess.run(["cmake", "--preset", "aarch64"], cwd=source, env=environment, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", str(tree), "--target", *targets], cwd=source, env=environment, check=True)


class ArmMachine:
    """The machine whose files are in `folder`. What is made once is used again."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.root = folder / "root"
        self._folder = folder

    def make(self, large_pages: bool = False) -> None:
        """Makes the root, its image and what the kernel begins with, and with `large_pages` what the other kernel takes
        at the same time; raises Unavailable."""
        with concurrent.futures.ThreadPoolExecutor() as pool:
            fetched = pool.submit(self._fetch_large_pages) if large_pages else None
            if not (self._folder / "complete").exists():
                self._make_root()
            if fetched:
                fetched.result()

    def _make_root(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        release, mirror = debian_release()
        if release != "bookworm":
            raise Unavailable(f"it is made of Debian 12's packages, and this is {release}")
        self.root.mkdir(parents=True)
        _run("mmdebstrap", "--mode=root", "--arch=arm64", "--variant=extract", "--skip=check/qemu",
             f"--include={','.join(SYSTEM + LIBRARIES)}", release, self.root,
             f"deb [signed-by={KEYRING}] {mirror} {release} main")
        for name in ("passwd", "group"):  # what configuring base-passwd would do
            shutil.copyfile(self.root / f"usr/share/base-passwd/{name}.master", self.root / f"etc/{name}")
        for name, program in (("c++", "g++"), ("cc", "gcc"), ("awk", "gawk")):  # and what alternatives would
            (self.root / "usr/bin" / name).symlink_to(program)
        self._make_links_relative()
        image = self._folder / "root.img"
        image.unlink(missing_ok=True)
        _run("mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-d", self.root, image, "4000M")
        _run("depmod", "-b", self.root, next(self.root.glob("lib/modules/*")).name)
        self._make_start(self.root, self._folder / "start.gz")
        (self._folder / "complete").touch()

    def run(self, script: str, folders: list[pathlib.Path] = [], seconds: int = 600, large_pages: bool = False,
            processors: int = 2) -> tuple[int, str]:
        """Runs `script` by bash there, as root, and returns its exit code and what it printed. `folders` are there by
        the same names, to be read. Raises Unavailable if the machine did not come up."""
        kernel, start = self._kernel_of(large_pages)
        command = pathlib.Path(tempfile.mkdtemp(prefix="command", dir=self._folder))
        try:
            for name, text in (("script", script), ("begin", BEGIN), ("seconds", f"{seconds}\n"), (
                    "folders", "".join(f"folder{number} {path}\n" for number, path in enumerate(folders)))):
                (command / name).write_text(text)
            self._boot(kernel, start, command, folders, seconds, processors)
            if not (command / "status").exists():
                console = (command / "console").read_text(errors="replace")
                raise Unavailable(f"the machine did not answer; its console ends with:\n{console[-2000:]}")
            return int((command / "status").read_text()), (command / "output").read_text(errors="replace")
        finally:
            shutil.rmtree(command, ignore_errors=True)

    def _boot(self, kernel: pathlib.Path, start: pathlib.Path, command: pathlib.Path, folders: list[pathlib.Path],
              seconds: int, processors: int) -> None:
        shares = [("command", command, "off")] + [(f"folder{number}", path, "on") for number, path in enumerate(folders)]
        words = ["qemu-system-aarch64", "-M", "virt", "-cpu", "max,pauth-impdef=on", "-accel", "tcg,thread=multi",
                 "-smp", str(processors), "-m", "4G", "-nodefaults", "-nographic", "-no-reboot",
                 "-serial", f"file:{command}/console", "-kernel", str(kernel), "-initrd", str(start),
                 "-append", "console=ttyAMA0 panic=-1 quiet",
                 "-drive", f"file={self._folder}/root.img,if=none,id=root,format=raw,readonly=on",
                 "-device", "virtio-blk-pci,drive=root"]
        for tag, path, readonly in shares:
            words += ["-virtfs", f"local,path={path},mount_tag={tag},security_model=none,readonly={readonly}"]
        try:
            subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           timeout=seconds + 300, check=False)
        except subprocess.TimeoutExpired:
            pass  # the missing status tells

    def _kernel_of(self, large_pages: bool) -> tuple[pathlib.Path, pathlib.Path]:
        if not large_pages:
            return next(self.root.glob("boot/vmlinuz-*")), self._folder / "start.gz"
        return self._large_pages_kernel()

    def _large_pages_kernel(self) -> tuple[pathlib.Path, pathlib.Path]:
        self._fetch_large_pages()
        folder = self._folder / LARGE_PAGES
        if not (folder / "start.gz").exists():
            self._make_start(folder, folder / "start.gz")
        return next(folder.glob("boot/vmlinuz-*")), folder / "start.gz"

    def _fetch_large_pages(self) -> None:
        """Debian's backports have a kernel of 16K pages."""
        folder = self._folder / LARGE_PAGES
        if (folder / "complete").exists():
            return
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _, mirror = debian_release()
        packages = subprocess.run(
            f"curl -sf {mirror.rstrip('/')}/dists/bookworm-backports/main/binary-arm64/Packages.xz | xz -dc",
            shell=True, capture_output=True, text=True, check=False).stdout
        wanted = [part for part in packages.split("\n\n")
                  if part.startswith("Package: linux-image-6") and f"-arm64-{LARGE_PAGES}\n" in part.split("\n")[0] + "\n"]
        if not wanted:
            raise Unavailable("the mirror has no kernel of 16K pages (bookworm-backports)")
        fields = dict(line.split(": ", 1) for line in wanted[-1].splitlines() if ": " in line)
        archive = folder / "kernel.deb"
        _run("curl", "-sf", "-o", archive, f"{mirror.rstrip('/')}/{fields['Filename']}")
        digest = subprocess.run(["sha256sum", archive], capture_output=True, text=True, check=True).stdout.split()[0]
        if digest != fields["SHA256"]:
            raise Unavailable("the kernel of 16K pages is not what the mirror's index says")
        _run("dpkg-deb", "-x", archive, folder)
        archive.unlink()
        _run("depmod", "-b", folder, next(folder.glob("lib/modules/*")).name)
        (folder / "complete").touch()

    def _make_start(self, modules_of: pathlib.Path, start: pathlib.Path) -> None:
        """The first file system: busybox, the modules that the real one needs, and INIT."""
        tree = pathlib.Path(tempfile.mkdtemp(prefix="start", dir=self._folder))
        for name in ("bin", "modules", "proc", "sys", "dev", "lower", "upper", "root"):
            (tree / name).mkdir(parents=True)
        shutil.copy2(self.root / "bin/busybox", tree / "bin/busybox")
        (tree / "init").write_text(INIT)
        (tree / "init").chmod(0o755)
        version = next(modules_of.glob("lib/modules/*")).name
        order: list[str] = []
        for module in MODULES:
            lines = subprocess.run(["modprobe", "-d", str(modules_of), "-S", version, "--show-depends", module],
                                   capture_output=True, text=True, check=False).stdout.splitlines()
            for line in lines:  # "insmod PATH", or "builtin NAME"
                path = pathlib.Path(line.split()[1])
                if not line.startswith("insmod") or path.name in order:
                    continue
                shutil.copy2(path, tree / "modules" / path.name)
                order.append(path.name)
        (tree / "modules/order").write_text("".join(f"{name}\n" for name in order))
        with start.open("wb") as output:
            files = subprocess.run(["find", "."], cwd=tree, capture_output=True, check=True).stdout
            packed = subprocess.run(["cpio", "-o", "-H", "newc"], cwd=tree, input=files, capture_output=True, check=True).stdout
            subprocess.run(["gzip", "-1"], input=packed, stdout=output, check=True)
        shutil.rmtree(tree)

    def _make_links_relative(self) -> None:
        """So that a link leads to a file of the root for who looks at it from outside, as compilers do."""
        for top in ("usr/lib", "usr/include"):
            for path in (self.root / top).rglob("*"):
                if stat.S_ISLNK(path.lstat().st_mode) and os.readlink(path).startswith("/"):
                    target = self.root / os.readlink(path).lstrip("/")
                    path.unlink()
                    path.symlink_to(os.path.relpath(target, path.parent))
