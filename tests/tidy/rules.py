"""The tables that tidy.py checks against: who may include whom, and where each foreign library
and each banned word may stand. Paths are relative to the repository root; a test is judged as if
it lay in the folder that it mirrors (tests/tuner/store/x_test.cc as tuner/store/x_test.cc)."""

import re

# Folders whose files are ours to judge. Everything else (build trees, set-up) is skipped.
ROOMS = ("proto", "kernels", "tuner", "service", "tests", "bench", "examples", "scripts", "docs",
         "cmake", "packaging")

# A file under the first path must not include a file under any of the second ones. The rooms go
# proto, kernels <- tuner <- service; the finer rows keep each folder to its one subject.
FORBIDDEN_INCLUDES = (
    ("kernels/", ("tuner/", "service/", "normd/v1/")),
    ("tuner/", ("service/", "normd/v1/")),
    ("tuner/device/", ("tuner/compiler/", "tuner/store/", "tuner/worker/", "tuner/tuner.h",
                       "tuner/tuning_queue.h")),
    ("tuner/device/cuda/", ("tuner/device/host/",)),
    ("tuner/device/host/", ("tuner/device/cuda/",)),
    ("tuner/compiler/", ("tuner/device/", "tuner/store/", "tuner/worker/", "tuner/tuner.h",
                         "tuner/tuning_queue.h")),
    ("tuner/store/", ("tuner/device/", "tuner/compiler/", "tuner/worker/", "tuner/tuner.h",
                      "tuner/tuning_queue.h")),
    ("tuner/worker/", ("tuner/store/", "tuner/tuner.h", "tuner/tuning_queue.h")),
    # A client program links the wire format and a device, never the store or a compiler.
    ("service/client/", ("tuner/store/", "tuner/compiler/", "tuner/worker/", "tuner/tuner.h",
                         "tuner/tuning_queue.h", "service/daemon/", "service/cli/")),
    ("service/daemon/", ("service/cli/",)),
)

# What binds tests instead: a kernel text's test needs a compiler and a device, but no test below
# the service talks to it.
FORBIDDEN_TEST_INCLUDES = (
    ("tests/kernels/", ("service/", "normd/v1/")),
    ("tests/tuner/", ("service/", "normd/v1/")),
)

# A header that matches the pattern may be included only below one of the prefixes.
DOORS = (
    (r"(cuda|nvml|cuda_runtime|cuda_runtime_api|cuda_fp16|cuda_bf16)\.h", ("tuner/device/cuda/",)),
    (r"nvrtc\.h", ("tuner/compiler/nvrtc",)),
    (r"sqlite3\.h", ("tuner/store/", "e2e/")),
    (r"(grpc|grpcpp|google)/.*|.*\.pb\.h", ("service/", "e2e/", "bench/")),
    (r"openssl/.*", ("kernels/digest.cc",)),
    (r"boost/.*", ("tuner/device/host/",)),
    (r"CLI/.*", ("service/", "bench/")),
    (r"spdlog/.*|fmt/.*", ("service/",)),
    (r"nlohmann/.*", ("service/cli/", "service/daemon/", "e2e/")),
    (r"toml\+\+/.*", ("service/daemon/",)),
    (r"dlfcn\.h", ("tuner/device/cuda/", "tuner/device/host/", "tuner/compiler/")),
    (r"gtest/.*|gmock/.*|rapidcheck.*", ("TESTS",)),
    (r"benchmark/.*", ("bench/",)),
)

# These headers are heavy: one translation unit of the shipped code each.
ONE_FILE_ONLY = (r"toml\+\+/.*",)

# A call that may stand only in files whose path matches, with the reason.
CALLS = (
    (re.compile(r"\b(secure_)?getenv\b"), re.compile(r"service/.*(main|places)\.cc$"),
     "the environment is read at main level only"),
    (re.compile(r"\bfork\s*\("), re.compile(r"service/daemon/supervise\.cc$"),
     "processes are spawned: only the supervisor forks, before it has a thread or a lock"),
    (re.compile(r"(?<![\w.>:])compile\s*\("), re.compile(r"^tuner/(compiler|worker)/"),
     "only a worker process compiles: the compile pool is asked, on the tuning thread"),
)

# Kernel texts include one another and the structs they share with the host, nothing else.
KERNEL_TEXT_INCLUDES = ("host_runtime.h", "arguments.h", "check_arguments.h")
# Texts with inline assembly: the CUDA bodies, each of which has a host body beside it.
INLINE_ASSEMBLY_HOMES = "_cuda.cuh"

LINES_MAX = 300
FUNCTION_LINES_MAX = 60
COLUMNS_MAX = 100

# Written with a character class each, so that this file does not find itself.
LOOSE_ENDS = re.compile(r"\b(TOD[O]|FIXM[E]|XX[X]|HAC[K])\b")
FOREIGN_PLACES = re.compile(r"/wor[k]/|\.\./share[d]|far[m]-[a-z]|/bash_job[s]")
