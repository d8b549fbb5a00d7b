"""Drives the CLI in PILOTHOUSE_CLI with the official Python SDK and checks what comes of it.

    python run.py [NAME ...] [--jobs N]      run all checks, or those whose names contain one of these

Every function `check_…` of the modules `checks_….py` is a check; its docstring says what must hold. The Messages
API is the program in PILOTHOUSE_API, with a script of each check's own. Nothing leaves the machine.
"""
import argparse
import asyncio
import importlib
import multiprocessing
import sys
import time
import traceback
import warnings
from pathlib import Path

PATIENCE = 90


def find():
    """All checks as (module, name), in the order of the files."""
    found = []
    for path in sorted(Path(__file__).parent.glob("checks_*.py")):
        module = importlib.import_module(path.stem)
        found += [(path.stem, name) for name in vars(module) if name.startswith("check_")]
    return found


def run(which):
    """Runs one check in this process; gives its name, the seconds it took and what went wrong."""
    from world import World

    module, name = which
    warnings.simplefilter("ignore")
    world, start, wrong = World(), time.time(), None
    try:
        check = getattr(importlib.import_module(module), name)
        asyncio.run(asyncio.wait_for(check(world), PATIENCE))
    except BaseException:  # a check that raises anything at all has failed
        wrong = traceback.format_exc(limit=-6)
    finally:
        world.close()
    return name.removeprefix("check_"), time.time() - start, wrong


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("names", nargs="*")
    arguments.add_argument("--jobs", type=int, default=4)
    options = arguments.parse_args()
    checks = [(m, n) for m, n in find() if not options.names or any(part in n for part in options.names)]
    if not checks:
        sys.exit("no check has such a name")
    failed = []
    with multiprocessing.get_context("spawn").Pool(options.jobs, maxtasksperchild=20) as pool:
        for name, seconds, wrong in pool.imap(run, checks):
            print(f"{'FAILED' if wrong else 'ok    '} {name} {seconds:.1f} s", flush=True)
            if wrong:
                failed.append(name)
                print("    " + wrong.replace("\n", "\n    "), flush=True)
    print(f"{len(checks) - len(failed)} of {len(checks)} checks of the Python SDK passed", *failed)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main()
