"""The examples, as a reader would run them."""

import subprocess
import unittest

from cli_daemon import BUILD, ROOT, DaemonTest

PYTHON = "/usr/bin/python3"  # the one that sees Debian's gRPC


def python_has(*modules):
    imports = "import " + ", ".join(modules)
    return subprocess.run([PYTHON, "-c", imports], capture_output=True, check=False).returncode == 0


class Examples(DaemonTest):
    def example(self, *command):
        ran = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=180, check=False
        )
        self.assertEqual(ran.returncode, 0, ran.stderr + ran.stdout + self.log())
        return ran.stdout

    def test_the_first_request_in_cpp(self):
        out = self.example(BUILD / "examples" / "first_request", self.environment["NORMD_SOCKET"])
        values = [float(word) for word in out.splitlines()[0].split()]
        expected = [-1.3416355, -0.4472118, 0.4472118, 1.3416355]
        for value, wanted in zip(values, expected + expected[::-1], strict=True):
            self.assertAlmostEqual(value, wanted, places=4)
        self.assertIn("means 2.5 2.5", out)

    @unittest.skipUnless(python_has("grpc", "numpy", "google.protobuf"), "no gRPC for Python")
    def test_the_first_request_in_python(self):
        out = self.example(PYTHON, "-B", ROOT / "examples" / "python" / "first_request.py")
        self.assertIn("158 rows of 384", out)
        self.assertLess(float(out.split("largest error ")[1].split()[0]), 2e-6)

    def test_the_first_request_in_shell(self):
        out = self.example("/bin/sh", ROOT / "examples" / "shell" / "first_request.sh")
        origins = [line.split()[1] for line in out.splitlines() if line.startswith("origin")]
        self.assertEqual(origins[2], "memory")
        self.assertEqual(out.count("check      ok"), 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
