"""Finds the functions of a C++ text and their lengths, by counting braces. No parser: it knows
just enough to tell a function's body from a class, a namespace and an initialiser."""

import re

_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"'
    r'|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
_SCOPE = re.compile(r"^(\w+\s+)*?(inline\s+)?(namespace|class|struct|union|enum|extern)\b")
_DIRECTIVE = re.compile(r"^[ \t]*#(\\\n|[^\n])*", re.MULTILINE)
_TEMPLATE = re.compile(r"^\s*template\s*<")


def _blank(pattern, text):
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)


def blank_comments_and_strings(text):
    """The same text with comments and literals replaced by spaces; lines and columns stay."""
    return _blank(_TOKEN, text)


def _without_template(head):
    """Drops leading template<...> clauses, whose `class` would look like a scope."""
    while _TEMPLATE.match(head):
        depth = 0
        for index, character in enumerate(head):
            depth += (character == "<") - (character == ">")
            if character == ">" and depth == 0:
                head = head[index + 1:]
                break
        else:
            return head
    return head.strip()


def _kind(head):
    head = _without_template(head.strip())
    returns_a_named_type = re.search(r"\)\s*(const|noexcept|override|final|->.*)*\s*$", head)
    if _SCOPE.match(head) and not returns_a_named_type:
        return "scope"
    return "function" if "(" in head else "other"


def function_lengths(text):
    """Yields (first line, number of lines) of each outermost function body with its head."""
    bare = _blank(_DIRECTIVE, blank_comments_and_strings(text))
    stack = []
    head_start = 0
    for match in re.finditer(r"[{};]", bare):
        at = match.start()
        if match.group() == "{":
            if any(kind != "scope" for kind, _ in stack):
                stack.append(("inner", at))
            else:
                head = bare[head_start:at]
                first = head_start + len(head) - len(head.lstrip())
                stack.append((_kind(head), first))
        elif match.group() == "}" and stack:
            kind, first = stack.pop()
            if kind == "function":
                begin = bare.count("\n", 0, first) + 1
                yield begin, bare.count("\n", 0, at) + 1 - begin + 1
        if not any(kind != "scope" for kind, _ in stack):
            head_start = at + 1
