"""Tests of the tidy check itself: each rule sees a text that breaks it and one that does not."""

import unittest

import functions
import tidy


def complaints(path, text):
    return [line.split(": ", 1)[1] for line in tidy.check_file(path, text)]


def header(body=""):
    return "// What it is and who owns it.\n#pragma once\n" + body


class Direction(unittest.TestCase):
    def test_a_kernel_that_includes_the_tuner_is_found(self):
        self.assertEqual(len(complaints("kernels/a.cc", '#include "tuner/trial.h"\n')), 1)

    def test_the_service_may_include_everything(self):
        text = "".join(f'#include "{name}"\n' for name in (
            "tuner/tuner.h", "kernels/key.h", "normd/v1/normd.pb.h"))
        self.assertEqual(complaints("service/daemon/run.cc", text), [])

    def test_the_store_sees_neither_a_device_nor_a_compiler(self):
        text = '#include "tuner/device/device.h"\n#include "tuner/compiler/compiler.h"\n'
        self.assertEqual(len(complaints("tuner/store/a.cc", text)), 2)

    def test_the_two_devices_do_not_know_each_other(self):
        text = '#include "tuner/device/host/block.h"\n'
        self.assertEqual(len(complaints("tuner/device/cuda/a.cc", text)), 1)

    def test_a_test_below_the_service_does_not_talk_to_it(self):
        text = '#include "service/daemon/daemon.h"\n'
        self.assertEqual(len(complaints("tests/tuner/a_test.cc", text)), 1)
        self.assertEqual(complaints("tests/service/daemon/a_test.cc", text), [])


    def test_a_test_may_use_more_than_its_subject(self):
        text = '#include "tuner/compiler/host_compiler.h"\n'
        self.assertEqual(complaints("tests/tuner/device/a_test.cc", text), [])
        self.assertEqual(len(complaints("tuner/device/a.cc", text)), 1)


class Doors(unittest.TestCase):
    def test_each_foreign_header_is_refused_outside_its_door(self):
        for name in ("cuda.h", "nvrtc.h", "sqlite3.h", "grpcpp/grpcpp.h", "openssl/evp.h",
                     "boost/context/fiber.hpp", "CLI/CLI.hpp", "nlohmann/json.hpp",
                     "toml++/toml.h", "dlfcn.h", "spdlog/spdlog.h"):
            with self.subTest(name=name):
                self.assertTrue(complaints("tuner/race.cc", f"#include <{name}>\n"))

    def test_each_foreign_header_is_accepted_at_its_door(self):
        for path, name in (("tuner/device/cuda/driver.cc", "cuda.h"),
                           ("tuner/compiler/nvrtc.cc", "nvrtc.h"),
                           ("tuner/store/sqlite.cc", "sqlite3.h"),
                           ("kernels/digest.cc", "openssl/evp.h"),
                           ("tests/tuner/store/torn_test.cc", "sqlite3.h"),
                           ("tests/kernels/key_test.cc", "gtest/gtest.h"),
                           ("service/daemon/handlers.cc", "grpcpp/grpcpp.h")):
            with self.subTest(name=name):
                self.assertEqual(complaints(path, f"#include <{name}>\n"), [])

    def test_a_test_header_in_shipped_code_is_found(self):
        self.assertTrue(complaints("kernels/key.cc", "#include <gtest/gtest.h>\n"))

    def test_a_second_user_of_a_heavy_header_is_found(self):
        texts = {"service/daemon/a.cc": "#include <toml++/toml.h>\n",
                 "service/daemon/b.cc": "#include <toml++/toml.h>\n"}
        self.assertEqual(len(list(tidy.crowded_doors(texts))), 1)


class Calls(unittest.TestCase):
    def test_reading_the_environment_below_main_is_found(self):
        text = 'void f() { std::getenv("HOME"); }\n'
        self.assertEqual(len(complaints("tuner/race.cc", text)), 1)
        self.assertEqual(complaints("service/daemon/main.cc", text), [])

    def test_compiling_outside_a_worker_is_found(self):
        text = "void f() { auto binary = compile(source); }\n"
        self.assertEqual(len(complaints("service/daemon/resolver.cc", text)), 1)
        self.assertEqual(complaints("tuner/worker/worker_main.cc", text), [])
        other = "void f() { pool.compile(source); recompile(source); }\n"
        self.assertEqual(complaints("service/daemon/resolver.cc", other), [])

    def test_a_call_named_in_a_comment_or_a_string_does_not_count(self):
        text = '// getenv("X") is not called\nconst char* text = "getenv(X)";\n'
        self.assertEqual(complaints("tuner/race.cc", text), [])


class Size(unittest.TestCase):
    def test_a_file_above_the_limit_is_found(self):
        self.assertEqual(complaints("kernels/a.cc", "int a;\n" * 300), [])
        self.assertEqual(len(complaints("kernels/a.cc", "int a;\n" * 301)), 1)

    def test_a_line_above_the_limit_is_found(self):
        self.assertEqual(complaints("kernels/a.cc", "/" * 100 + "\n"), [])
        self.assertEqual(len(complaints("kernels/a.cc", "/" * 101 + "\n")), 1)

    def test_a_function_above_the_limit_is_found_wherever_it_stands(self):
        long = "int f() {\n" + "  g();\n" * 59 + "}\n"
        short = "int f() {\n" + "  g();\n" * 58 + "}\n"
        wrappers = ("{}", "namespace a {{\nclass B {{\n{}}};\n}}\n",
                    'extern "C" {{\n{}}}\n', "template <class T, int n>\n{}")
        for wrapper in wrappers:
            with self.subTest(wrapper=wrapper):
                lead = 1 if wrapper.startswith("template") else 0
                self.assertEqual(len(complaints("kernels/a.cc", wrapper.format(long))), 1)
                if not lead:
                    self.assertEqual(complaints("kernels/a.cc", wrapper.format(short)), [])

    def test_tables_classes_and_macros_are_not_functions(self):
        row = "  {1, 2},\n"
        for text in ("constexpr int table[][2] = {\n" + row * 80 + "};\n",
                     "struct alignas(16) A {\n" + "  int a;\n" * 80 + "};\n",
                     "#define A(x) f() { \\\n" + "  x; \\\n" * 80 + "}\n"):
            with self.subTest(text=text[:20]):
                self.assertEqual(complaints("kernels/a.cc", text), [])

    def test_lengths_are_counted_from_the_head_to_the_closing_brace(self):
        text = "int a;\n\nint f(int b,\n      int c) {\n  if (b) {\n    c = 1;\n  }\n}\n"
        self.assertEqual(list(functions.function_lengths(text)), [(3, 6)])

    def test_braces_in_literals_do_not_confuse_the_count(self):
        text = "int f() {\n  g('{', \"}}\", R\"x({{)x\");\n}\nint h() {\n}\n"
        self.assertEqual(list(functions.function_lengths(text)), [(1, 3), (4, 2)])


class Headers(unittest.TestCase):
    def test_a_header_without_an_opening_comment_is_found(self):
        self.assertEqual(len(complaints("kernels/a.h", "#pragma once\n")), 1)

    def test_a_header_without_pragma_once_is_found(self):
        self.assertEqual(len(complaints("kernels/a.h", "// What it is.\nint a;\n")), 1)

    def test_a_good_header_passes(self):
        self.assertEqual(complaints("kernels/a.h", header()), [])


class Words(unittest.TestCase):
    def test_a_loose_end_is_found(self):
        for word in ("TOD" + "O", "FIX" + "ME"):
            self.assertEqual(len(complaints("docs/a.md", f"see {word}: later\n")), 1)

    def test_a_place_outside_the_repository_is_found(self):
        self.assertEqual(len(complaints("docs/a.md", "see /wor" + "k/there\n")), 1)
        self.assertEqual(complaints("docs/a.md", "the frame-work/there\n"), [])


class KernelTexts(unittest.TestCase):
    def test_a_kernel_text_that_includes_a_toolkit_header_is_found(self):
        for include in ("<cuda_fp16.h>", '"kernels/launch.h"', "<math.h>"):
            with self.subTest(include=include):
                text = header(f"#include {include}\n")
                self.assertTrue(complaints("kernels/templates/a.cuh", text))

    def test_a_kernel_text_may_include_its_platform(self):
        text = header('#include "platform.cuh"\n')
        self.assertEqual(complaints("kernels/templates/a.cuh", text), [])

    def test_inline_assembly_has_one_home(self):
        text = header('void f() { asm("nop;"); }\n')
        self.assertEqual(len(complaints("kernels/templates/a.cuh", text)), 1)
        self.assertEqual(complaints("kernels/templates/platform_cuda.cuh", text), [])


class DeadFiles(unittest.TestCase):
    def test_a_source_that_no_build_file_names_is_found(self):
        texts = {"kernels/CMakeLists.txt": "normd_library(k SOURCES key.cc)", "kernels/key.cc": "",
                 "kernels/old_key.cc": ""}
        found = list(tidy.dead_files(texts))
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0].startswith("kernels/old_key.cc"))

    def test_a_list_of_names_in_the_nearest_build_file_counts(self):
        texts = {"tests/kernels/CMakeLists.txt": "foreach(name key dtype)",
                 "tests/CMakeLists.txt": "old", "tests/kernels/key_test.cc": "",
                 "tests/kernels/old_test.cc": ""}
        found = list(tidy.dead_files(texts))
        self.assertEqual([line.split(":")[0] for line in found], ["tests/kernels/old_test.cc"])

    def test_a_kernel_text_lives_if_it_is_rendered_or_included(self):
        folder = "kernels/templates/"
        texts = {"kernels/CMakeLists.txt": "catalog.cc", "kernels/catalog.cc": '"rows"',
                 folder + "rows.cuh": '#include "platform.cuh"\n', folder + "platform.cuh": "",
                 folder + "old.cuh": ""}
        self.assertEqual([line.split(":")[0] for line in tidy.dead_files(texts)],
                         [folder + "old.cuh"])
        self.assertEqual([line.split(":")[0] for line in tidy.one_time_texts(texts)],
                         [folder + "platform.cuh"])

    def test_a_header_that_nothing_includes_is_found(self):
        texts = {"kernels/a.h": header(), "kernels/b.h": header(), "kernels/CMakeLists.txt": "a.cc",
                 "kernels/a.cc": '#include "kernels/a.h"\n'}
        self.assertEqual([line.split(":")[0] for line in tidy.dead_files(texts)], ["kernels/b.h"])


if __name__ == "__main__":
    unittest.main()
