"""Reads a winner out of a store: its stored launch and its binary. Neither torch nor a GPU."""

import dataclasses
import pathlib
import sqlite3

from bench.compare import launch as launches

APPLICATION_ID = 1852797549  # of a store's file, as tuner/store/sql.h says


class NoWinner(Exception):
    pass


@dataclasses.dataclass(frozen=True)
class Winner:
    candidate: str
    key: str
    launch: launches.Launch
    binary: bytes


def read_winner(store, key):
    """The stored launch and binary of a key."""
    file = pathlib.Path(store) / "normd.db"
    connection = sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)
    try:
        (found,) = connection.execute("PRAGMA application_id").fetchone()
        if found != APPLICATION_ID:
            raise NoWinner(f"{file} is no store: its application_id is {found}")
        row = connection.execute(
            "SELECT winner.candidate, winner.launch, binary.bytes FROM winner JOIN binary "
            "ON binary.digest = winner.binary_digest WHERE winner.key = ?1 LIMIT 1",
            (key,)).fetchone()
    except sqlite3.Error as error:
        raise NoWinner(f"{file}: {error}") from error
    finally:
        connection.close()
    if row is None:
        raise NoWinner(f"{file} has no winner with a binary for the key '{key}'")
    return Winner(candidate=row[0], key=key, launch=launches.parse_launch(row[1]), binary=row[2])
