"""A terminal for tests: a command on a pty of its own, and what a screen shows of it."""
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

import pyte


class Screen(pyte.Screen):
    """As a VT100 has it: margins that are not named (CSI r) are the whole screen's."""

    def set_margins(self, top=None, bottom=None):
        if bottom is None and not top:
            self.margins = None
            self.cursor_position()
        else:
            super().set_margins(top, bottom)


class Terminal:
    """Ends the command with it. `raw` is all that was ever written."""

    def __init__(self, command, columns=100, rows=24, environment=None, streams=None, cwd=None):
        """`streams`: {1: path} sends standard output to a file instead."""
        self.screen = Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.status = None
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            self._become([str(word) for word in command], columns, rows, environment, streams or {}, cwd)

    @staticmethod
    def _become(command, columns, rows, environment, streams, cwd):
        try:
            for number in (signal.SIGINT, signal.SIGQUIT):
                signal.signal(number, signal.SIG_DFL)  # ignored where tests run in the background
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            for fd, path in streams.items():
                os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), fd)
            os.chdir(cwd or ".")
            variables = {**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", **(environment or {})}
            os.execvpe(command[0], command, variables)
        except OSError as error:
            os.write(2, str(error).encode())
        os._exit(127)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.master)

    def type(self, keys):
        os.write(self.master, keys.encode())

    def resize(self, columns, rows):
        self.screen.resize(rows, columns)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds=0.05):
        """Whether there was anything to read."""
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            got = os.read(self.master, 65536)
        except OSError:  # the last who had the terminal open has gone
            return False
        self.raw += got
        self.stream.feed(got)
        return bool(got)

    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def text(self):
        return "\n".join(self.lines())

    def wait_for(self, what, holds, seconds=600):
        """Reads until `holds(self)`."""
        end = time.monotonic() + seconds
        while not holds(self):
            if time.monotonic() > end:
                raise SystemExit(f"terminal: never came: {what}; the screen:\n{self.text()}\nwritten: {self.raw[-3000:]!r}")
            self.read()

    def wait_for_end(self, seconds=600):
        """The command's exit code, as a shell tells it, once all it wrote has been read."""
        end = time.monotonic() + seconds
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.read(0.02)
            if pid == self.pid:
                break
            if time.monotonic() > end:
                raise SystemExit(f"terminal: the command did not end; the screen:\n{self.text()}")
        while self.read(0.05):
            pass
        self.status = status
        return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


class Checks:
    """Counts what is wrong, and says each."""

    def __init__(self):
        self.failed = 0

    def require(self, what, is_right, shown=""):
        print(f"{'ok   ' if is_right else 'WRONG'} {what}", flush=True)
        if not is_right:
            self.failed += 1
            print(shown, flush=True)

    def finish(self):
        sys.exit(1 if self.failed else 0)
