"""The machine that the figures are of, in one line."""
import os
import pathlib
import platform


def cpu_model() -> str:
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def describe() -> str:
    release = platform.freedesktop_os_release()["PRETTY_NAME"]
    glibc = os.confstr("CS_GNU_LIBC_VERSION")
    return (f"{cpu_model()}, {os.cpu_count()} cores, Linux {platform.release()}, {glibc}, {release}")
