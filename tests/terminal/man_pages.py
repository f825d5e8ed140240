#!/usr/bin/env python3
"""Holds the manual pages that are installed against mandoc's and groff's checks, against what
man-db looks for, and against each command's --help.

Usage: man_pages.py --leakgate FILE --pages FOLDER
"""
import argparse
import os
import pathlib
import re
import subprocess

from completion import commands_of, options_of
from terminal import Checks

COLUMNS = {**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8", "MAN_KEEP_FORMATTING": ""}


def complaints_of(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    return said if said or done.returncode == 0 else f"exit code {done.returncode}"


def shown(page):
    """As a reader sees it, its spaces made one."""
    text = subprocess.run(["man", "-l", str(page)], capture_output=True, text=True, check=True, env=COLUMNS).stdout
    return re.sub(r".\x08", "", text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--leakgate", type=pathlib.Path, required=True)
    parser.add_argument("--pages", type=pathlib.Path, required=True)
    options = parser.parse_args()
    checks = Checks()
    commands = commands_of(options.leakgate)
    pages = {"-".join(["leakgate", *command]): command for command in commands}
    there = {path.stem for path in options.pages.iterdir()}
    checks.require("each command has its page, and each page its command", there == set(pages), str(there ^ set(pages)))
    files = [options.pages / f"{name}.1" for name in pages]
    for linter in (("mandoc", "-T", "lint"), ("groff", "-ww", "-man", "-Tutf8", "-z")):
        complaints = complaints_of(*linter, *files)
        checks.require(f"{linter[0]} finds nothing", not complaints, complaints)
    for name, command in pages.items():
        page = options.pages / f"{name}.1"
        text = shown(page)
        summary = complaints_of("lexgrog", page)
        checks.require(f"whatis tells {name}", re.search(rf': "{name} - \w', summary) is not None, summary)
        headings = set(re.findall(r"^([A-Z ]+)$", text, flags=re.M))
        wanted = {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "SEE ALSO"}
        checks.require(f"{name} has its sections", wanted <= headings, str(wanted - headings))
        missing = [option for option in options_of(options.leakgate, command)
                   if not re.search(rf"^ {{7}}(\S+ )?{option}\b", text, flags=re.M)]
        checks.require(f"{name} has each option", not missing, f"{missing}\n{text}")
        referred = set(re.findall(r"\b(leakgate[\w-]*)\(1\)", text.split("SEE ALSO")[1].rsplit("\n\n", 1)[0]))
        checks.require(f"{name} refers to pages that there are", bool(referred) and referred <= set(pages), str(referred))
    checks.finish()


if __name__ == "__main__":
    main()
