"""Python packages that a test needs, in an environment of its own under the build's folder."""
import fcntl
import os
import pathlib
import subprocess
import sys


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def install(environment, packages):
    made = subprocess.run([sys.executable, "-m", "venv", environment], capture_output=True, text=True)
    if made.returncode:
        skip("python3 -m venv fails; Debian's package python3-venv is needed")
    installed = subprocess.run([environment / "bin/python", "-m", "pip", "install", "--quiet", *packages],
                               capture_output=True, text=True)
    if installed.returncode:
        skip(f"PyPI's packages cannot be installed: {installed.stderr.strip().splitlines()[-1]}")


def run_with_packages(packages, folder, name):
    """Starts this program again with the packages, which the first run installs from PyPI; tests that run side by side
    wait for it. Ends with status 77, and a sentence, where they cannot be had."""
    folder = pathlib.Path(folder).resolve()
    environment = folder / f"python-{name}"
    done = environment / "installed"
    if pathlib.Path(sys.prefix) == environment:
        return
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / f"python-{name}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists() or done.read_text(encoding="utf-8") != str(packages):
            install(environment, packages)
            done.write_text(str(packages), encoding="utf-8")
    os.execv(environment / "bin/python", [str(environment / "bin/python"), *sys.argv])
