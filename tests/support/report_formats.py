"""The names of all report formats, as leakgate lists them where it does not know one."""
import os
import re
import subprocess


def report_formats(leakgate: str | os.PathLike) -> list[str]:
    told = subprocess.run([leakgate, "run", "--report", "none=file", "--", "true"], capture_output=True, text=True,
                          check=False).stderr
    found = re.search("known: (.*)", told)
    if not found:
        raise SystemExit(f"{leakgate} lists no report formats: {told}")
    return found[1].split(", ")
