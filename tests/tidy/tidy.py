"""Checks the source tree against the rules in rules.py and prints one line for each break:
which file, which line, what is wrong. Knows no build system and needs no package.

  python3 tests/tidy/tidy.py [ROOT]     exit code 1 when something was found
"""

import pathlib
import re
import sys

import functions
import rules

CODE = (".cc", ".h", ".cuh")
PRAGMA_ONCE = re.compile(r"^#pragma once$", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def judged_path(path):
    """The path whose rules hold for this file: a test lives under its subject's rules."""
    return path[len("tests/"):] if path.startswith("tests/") else path


def includes(text):
    for match in INCLUDE.finditer(text):
        yield line_of(text, match.start()), match.group(1), match.group(2)


def check_direction(path, text):
    rows = rules.FORBIDDEN_INCLUDES + rules.FORBIDDEN_TEST_INCLUDES
    for line, _, header in includes(text):
        for below, forbidden in rows:
            if path.startswith(below) and header.startswith(forbidden):
                yield line, f"{below} must not include {header}"


def check_doors(path, text):
    home = judged_path(path)
    for line, _, header in includes(text):
        for pattern, prefixes in rules.DOORS:
            if not re.fullmatch(pattern, header):
                continue
            inside = home.startswith(prefixes) or ("TESTS" in prefixes and home != path)
            if not inside:
                yield line, f"<{header}> belongs to {' or '.join(prefixes)}"


def check_calls(path, text):
    bare = functions.blank_comments_and_strings(text)
    for call, homes, reason in rules.CALLS:
        if path.startswith("tests/") or homes.search(path):
            continue
        for match in call.finditer(bare):
            yield line_of(text, match.start()), f"{match.group(0).strip()}: {reason}"


def check_size(path, text):
    lines = text.splitlines()
    if len(lines) > rules.LINES_MAX:
        yield len(lines), f"{len(lines)} lines; a file has at most {rules.LINES_MAX}"
    for number, line in enumerate(lines, 1):
        if len(line) > rules.COLUMNS_MAX and "http" not in line:
            yield number, f"{len(line)} columns; a line has at most {rules.COLUMNS_MAX}"


def check_functions(path, text):
    for line, length in functions.function_lengths(text):
        if length > rules.FUNCTION_LINES_MAX:
            yield line, (f"a function of {length} lines; a function fits a screen, at most "
                         f"{rules.FUNCTION_LINES_MAX}")


def check_header(path, text):
    if not text.startswith("//"):
        yield 1, "a header opens with a comment: what it is, who owns it, which threads use it"
    # A kernel text that is rendered, not included, needs none; one_time_texts() has the others.
    if path.endswith(".h") and not PRAGMA_ONCE.search(text):
        yield 1, "a header has #pragma once"


def check_words(path, text):
    for pattern, reason in ((rules.LOOSE_ENDS, "a loose end: finish it or file it"),
                            (rules.FOREIGN_PLACES, "names a place outside this repository")):
        for match in pattern.finditer(text):
            yield line_of(text, match.start()), f"{match.group(0)}: {reason}"


def check_kernel_text(path, text):
    for line, quote, header in includes(text):
        if quote == "<" or not (header.endswith(".cuh") or header in rules.KERNEL_TEXT_INCLUDES):
            yield line, f"a kernel text must not include {header}: NVRTC runs without headers"
    if not path.endswith(rules.INLINE_ASSEMBLY_HOMES):
        bare = functions.blank_comments_and_strings(text)
        for match in re.finditer(r"\b(__)?asm(__)?\b", bare):
            yield line_of(text, match.start()), (
                f"inline assembly lives in *{rules.INLINE_ASSEMBLY_HOMES} only")


def checks_for(path):
    suffix = pathlib.PurePath(path).suffix
    chosen = [check_words]
    if suffix in CODE:
        chosen += [check_direction, check_doors, check_calls, check_functions]
    if suffix in CODE + (".py",) or path.startswith("scripts/"):
        chosen.append(check_size)
    if suffix in (".h", ".cuh"):
        chosen.append(check_header)
    if path.startswith("kernels/templates/"):
        chosen.append(check_kernel_text)
    return chosen


def check_file(path, text):
    for check in checks_for(path):
        for line, complaint in check(path, text):
            yield f"{path}:{line}: {complaint}"


def build_file_of(path, texts):
    """The text of the nearest CMakeLists.txt at or above a file."""
    for folder in pathlib.PurePath(path).parents:
        name = (folder / "CMakeLists.txt").as_posix()
        if name in texts:
            return texts[name]
    return ""


def is_built(path, texts):
    """Whether the nearest build file names this file, its stem, or its subject (key for
    key_test.cc), as lists of names in a foreach do."""
    name = pathlib.PurePath(path)
    spellings = {name.name, name.stem, name.stem.removesuffix("_test")}
    words = set(re.findall(r"[\w.+-]+", build_file_of(path, texts)))
    return bool(spellings & words)


def dead_files(texts):
    """Sources that no build file names, headers and kernel texts that nothing uses."""
    included = {header for path, text in texts.items() if path.endswith(CODE)
                for _, _, header in includes(text)}
    rendering = "".join(text for path, text in texts.items()
                        if path.startswith("kernels/") and path.endswith(".cc"))
    for path in sorted(texts):
        name = pathlib.PurePath(path).name
        if path.endswith(".cc") and not is_built(path, texts):
            yield f"{path}:1: no CMakeLists.txt names this file: it is never compiled"
        elif path.endswith(".cuh") and name not in included:
            if not re.search(rf"\b{name.removesuffix('.cuh')}\b", rendering):
                yield f"{path}:1: no kernel text includes this one, and nothing renders it"
        elif path.endswith(".h") and not {path, name} & included:
            yield f"{path}:1: nothing includes this header"


def one_time_texts(texts):
    """Kernel texts that others include must be safe to include twice."""
    included = {header for text in texts.values() for _, _, header in includes(text)}
    for path in sorted(texts):
        if (path.endswith(".cuh") and pathlib.PurePath(path).name in included
                and not PRAGMA_ONCE.search(texts[path])):
            yield f"{path}:1: a text that others include has #pragma once"


def crowded_doors(texts):
    """Headers that only one file of the shipped code may include, included by more."""
    for pattern in rules.ONE_FILE_ONLY:
        users = sorted(path for path, text in texts.items()
                       if path.endswith(CODE) and not path.startswith("tests/")
                       and any(re.fullmatch(pattern, header) for _, _, header in includes(text)))
        for path in users[1:]:
            yield f"{path}:1: {pattern} is included by {users[0]} already; one file only"


def check_tree(texts):
    """All complaints about a tree given as {path: text}."""
    complaints = [line for path in sorted(texts) for line in check_file(path, texts[path])]
    for check in (dead_files, one_time_texts, crowded_doors):
        complaints += check(texts)
    return complaints


def read_tree(root):
    texts = {}
    for room in rules.ROOMS:
        for file in sorted((root / room).rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                try:
                    texts[file.relative_to(root).as_posix()] = file.read_text(encoding="utf-8")
                except UnicodeDecodeError:
                    pass  # a binary sample, such as .npy
    for file in sorted(root.glob("*")):
        if file.suffix in (".md", ".txt", ".json"):
            texts[file.name] = file.read_text(encoding="utf-8")
    return texts


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parents[2])
    texts = read_tree(root)
    complaints = check_tree(texts)
    for complaint in complaints:
        print(complaint)
    print(f"tidy: {len(texts)} files read, {len(complaints)} complaints")
    return 1 if complaints or not texts else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
