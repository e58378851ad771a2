"""Records what native CPython prints for the snippets of this folder.

    python3 -m venv env && env/bin/pip install -r requirements.txt   # the versions that the image has
    env/bin/python record.py [--only AREA] [--new]

An area is a txtar file. NAME.py holds a snippet and NAME.out what it prints natively, which this script
writes. NAME.here, by hand, holds what the engine prints where that is something else, and NAME.differs why.
Each snippet runs as a script of its own in an empty folder, as it does in the engine; in what it prints that
folder reads /workspace. The first lines of the file say which versions were asked.
"""

import argparse
import importlib.metadata
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MARKER = re.compile(r"^-- (\S+) --$")
# What a user's shell says must not change an answer. One thread, so that sums are added up in one order.
ENVIRONMENT = {"PATH": "", "TZ": "UTC", "MPLBACKEND": "agg", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def read(path):
    """Returns the sections of an area, in their order."""
    sections, lines = {}, None
    # Not splitlines, which would also end a line at a form feed that a snippet printed.
    for line in re.findall(r".*\n|.+$", path.read_bytes().decode("utf-8")):
        if match := MARKER.match(line):
            lines = []
            if match[1] in sections:
                sys.exit(f"{path.name}: {match[1]} appears twice")
            sections[match[1]] = lines
        elif lines is not None:
            lines.append(line)
    return {name: "".join(lines) for name, lines in sections.items()}


def run(snippet):
    """Returns what a snippet prints: standard output, then what else there was, under a heading."""
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        script = pathlib.Path(folder, "script.py")
        script.write_text(snippet, encoding="utf-8")
        environment = ENVIRONMENT | {"HOME": folder, "TMPDIR": folder}
        for name in "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE":  # some processors need them to compute rightly
            if name in os.environ:
                environment[name] = os.environ[name]
        # -I ignores PYTHONHASHSEED, so snippets must not depend on the order of a set of strings.
        done = subprocess.run([sys.executable, "-I", "-B", "-X", "utf8", str(script)], cwd=folder, env=environment,
                              input=b"", capture_output=True, timeout=120)
    text = done.stdout.decode("utf-8")
    if done.stderr:
        text = ended(text) + "[stderr]\n" + done.stderr.decode("utf-8")
    if done.returncode:
        text = ended(text) + f"[exit {done.returncode}]\n"
    text = ended(text.replace(folder, "/workspace"))
    if sys.prefix in text or sys.base_prefix in text:
        raise ValueError(f"this prints a path of this machine:\n{snippet}\n{text}")
    return text


def ended(text):
    """A section of a txtar file ends with a line end."""
    return text if not text or text.endswith("\n") else text + "\n"


def versions():
    named = [f"CPython {platform.python_version()}"]
    for line in (HERE / "requirements.txt").read_text().split():
        package, _, wanted = line.partition("==")
        try:
            found = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found = "none"
        if found != wanted:
            sys.exit(f"{line} is wanted and {found} is installed beside {sys.executable}")
        named.append(f"{package} {found}")
    return f"Native answers on {platform.system()} {platform.machine()}, from\n" + ",\n".join(
        ", ".join(named[i:i + 6]) for i in range(0, len(named), 6)) + "\n"


def record(path, only_new):
    sections = read(path)
    text = versions()
    for name, snippet in sections.items():
        if not name.endswith(".py"):
            continue
        stem = name.removesuffix(".py")
        old = sections.get(stem + ".out")
        text += f"-- {name} --\n{snippet}"
        try:
            out = old if only_new and old is not None else run(snippet)
        except (ValueError, subprocess.TimeoutExpired) as error:
            print(f"{path.name}: {name} has no answer: {error}", file=sys.stderr)
        else:
            text += f"-- {stem}.out --\n{out}"
        for kind in "differs", "here":
            if (kept := sections.get(f"{stem}.{kind}")) is not None:
                text += f"-- {stem}.{kind} --\n{kept}"
    path.write_bytes(text.encode("utf-8"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="the one area to record")
    parser.add_argument("--new", action="store_true", help="run only snippets that have no answer yet")
    options = parser.parse_args()
    for path in sorted(HERE.glob(f"{options.only or '*'}.txtar")):
        record(path, options.new)
        print(path.name)


if __name__ == "__main__":
    main()
