"""A daemon of a test's own on the host device, and the tool beside it. Standard library only."""

import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ["NORMD_BUILD"])
DATA = ROOT / "examples" / "data"


class DaemonTest(unittest.TestCase):
    """Each class has one daemon; stop() and start() restart it on the same store."""

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory(prefix="normd-cli-")
        cls.place = pathlib.Path(cls.directory.name)
        cls.environment = {
            "PATH": f"{BUILD / 'bin'}:/usr/bin:/bin",
            "HOME": str(cls.place),
            "NORMD_SOCKET": str(cls.place / "run" / "normd.sock"),
            "PYTHONPATH": str(BUILD / "python"),
        }
        cls.daemon = None
        cls.start()

    @classmethod
    def tearDownClass(cls):
        cls.stop()
        cls.directory.cleanup()

    @classmethod
    def start(cls):
        with open(cls.place / "normd.log", "ab") as log:
            cls.daemon = subprocess.Popen(
                ["normd", "--devices", "host", "--store", str(cls.place / "store")],
                env=cls.environment, executable=BUILD / "bin" / "normd", stdout=log, stderr=log,
            )
        for _ in range(600):
            if cls.tool("status").returncode == 0:
                return
            if cls.daemon.poll() is not None:
                break
            time.sleep(0.1)
        raise AssertionError("the daemon did not start:\n" + cls.log())

    @classmethod
    def stop(cls):
        if cls.daemon:
            cls.daemon.terminate()
            cls.daemon.wait(timeout=60)
        cls.daemon = None

    @classmethod
    def log(cls):
        return (cls.place / "normd.log").read_text(errors="replace")[-4000:]

    @classmethod
    def tool(cls, *arguments, program="normctl", **variables):
        return subprocess.run(
            [BUILD / "bin" / program, *map(str, arguments)], env={**cls.environment, **variables},
            capture_output=True, text=True, timeout=180, check=False,
        )

    def json(self, *arguments, status=0):
        ran = self.tool(*arguments, "--json")
        self.assertEqual(ran.returncode, status, ran.stderr + ran.stdout + self.log())
        return json.loads(ran.stdout)

    def layer_norm(self, *arguments, status=0):
        return self.json(
            "run", "--x", DATA / "x.npy", "--gamma", DATA / "gamma.npy", "--beta",
            DATA / "beta.npy", "--epsilon", "1e-12", "--check", *arguments, status=status,
        )
