"""The winner of a case, found as a user of the daemon would: `normctl tune` through a store, whose
row and binary are then read. Neither torch nor a GPU is used here."""

import dataclasses
import json
import pathlib
import sqlite3
import subprocess

from bench.compare import launch as launches

APPLICATION_ID = 1852797549  # of a store's file, as tuner/store/sql.h says


class TuningFailed(Exception):
    pass


@dataclasses.dataclass(frozen=True)
class Winner:
    candidate: str
    key: str
    launch: launches.Launch
    binary: bytes


@dataclasses.dataclass(frozen=True)
class TunerOptions:
    normctl: str
    store: str
    budget: str = ""
    bucket_mode: str = "bucketed"
    device: str = ""       # a GPU's UUID; empty: the first
    device_name: str = ""  # winners of other devices are not taken
    again: bool = False


def problem_flags(case, bucket_mode):
    affine = "both" if case.affine == "both_fp32" else case.affine
    flags = [f"{case.rows}x{case.columns}", "--dtype", case.dtype, "--affine", affine,
             "--stats", case.stats, "--bucket-mode", bucket_mode]
    if case.affine == "both_fp32":
        flags += ["--gamma-dtype", "fp32", "--beta-dtype", "fp32"]
    return flags


def ask(options, words):
    """One call of normctl with --json: its answer, or None and its complaint."""
    command = [options.normctl, *words, "--store", options.store, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, (done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1]
    return json.loads(done.stdout), ""


def stored_row(options, case):
    """What the store holds for this case and device and the program still takes; else None."""
    if not (pathlib.Path(options.store) / "normd.db").exists():
        return None
    answer, _ = ask(options, ["explain", *problem_flags(case, options.bucket_mode)])
    for hit in (answer or {}).get("hits", []):
        here = not options.device_name or hit["device_name"] == options.device_name
        if here and not hit["stale_because"]:
            return hit
    return None


def tune(options, case):
    words = ["tune", *problem_flags(case, options.bucket_mode), "--no-daemon"]
    if options.device:
        words += ["--device", options.device]
    if options.budget:
        words += ["--budget", options.budget]
    if options.again:
        words += ["--again"]
    answer, complaint = ask(options, words)
    if answer is None:
        raise TuningFailed(complaint)
    if not answer.get("winner"):
        raise TuningFailed("the tuning ended without a winner")
    return answer["winner"]


def read_winner(store, key):
    """The stored launch and binary of a key."""
    file = pathlib.Path(store) / "normd.db"
    connection = sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)
    try:
        (found,) = connection.execute("PRAGMA application_id").fetchone()
        if found != APPLICATION_ID:
            raise TuningFailed(f"{file} is no store: its application_id is {found}")
        row = connection.execute(
            "SELECT winner.candidate, winner.launch, binary.bytes FROM winner JOIN binary "
            "ON binary.digest = winner.binary_digest WHERE winner.key = ?1 LIMIT 1",
            (key,)).fetchone()
    except sqlite3.Error as error:
        raise TuningFailed(f"{file}: {error}") from error
    finally:
        connection.close()
    if row is None:
        raise TuningFailed(f"{file} has no winner with a binary for the key '{key}'")
    return Winner(candidate=row[0], key=key, launch=launches.parse_launch(row[1]), binary=row[2])


def find_winner(options, case):
    """From the store, or tuned now."""
    row = None if options.again else stored_row(options, case)
    if row is None:
        row = tune(options, case)
    return read_winner(options.store, row["key"])


def program_version(normctl):
    done = subprocess.run([normctl, "--version"], capture_output=True, text=True, check=False)
    return (done.stdout.strip() or "unknown").splitlines()[0]
