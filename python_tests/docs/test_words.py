"""The pages have every word of a spec and every field of a scope that the code has, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import opgate
import pytest
from opgate.judging.registry import Check

# Keyword arguments in Python, as `sample(..., named="small")`. And what only tests of OpGate need.
KEYWORDS_IN_PYTHON = {"named", "because", "raises"}
FOR_PLANTED_DEFECTS = {"planted_for"}
# In C++, two specs call one function.
IN_PYTHON_ALONE = {"like", "schema"}


def rows(page: str, heading: str) -> list[str]:
    """The first cells of the first table of `page` whose heading begins so."""
    table = page.partition(f"\n| {heading}")[2].partition("\n\n")[0]
    return [line.split(" | ")[0].removeprefix("| ") for line in table.splitlines()[2:]]


def words_in_cpp(source: Path) -> set[str]:
    """The public methods of SpecWriter."""
    header = (source / "conformance/include/opgate/spec.h").read_text()
    public = header.partition("class SpecWriter")[2].partition(" private:")[0]
    return set(re.findall(r"^  (?:SpecWriter&|BenchWriter) (\w+)\(", public, re.MULTILINE))


def naming_words(source: Path) -> set[str]:
    """The words of the table in naming_words.h."""
    return set(re.findall(r'NamingWord\{"(\w+)"', (source / "conformance/spec/naming_words.h").read_text()))


def words_in_python() -> set[str]:
    """The public methods of OpSpec that return a spec, so that words can be chained."""
    methods = {name: value for name, value in vars(opgate.OpSpec).items() if callable(value)}
    return {
        name
        for name, value in methods.items()
        if not name.startswith("_") and value.__annotations__.get("return") == "OpSpec"
    }


def test_python_has_the_words_of_cpp(source: Path) -> None:
    assert words_in_python() == (words_in_cpp(source) - KEYWORDS_IN_PYTHON) | IN_PYTHON_ALONE


def test_every_word_that_names_something_is_written_in_both_languages(source: Path) -> None:
    words = naming_words(source)
    assert words
    header = (source / "conformance/include/opgate/spec.h").read_text()
    module = (source / "conformance/python/opgate/specs/spec.py").read_text()
    assert set(re.findall(r'return names\("(\w+)"', header)) == words
    assert set(re.findall(r'return self\._names\("(\w+)"', module)) == words


def test_the_page_about_specs_has_every_word(source: Path) -> None:
    page = (source / "docs/specs.md").read_text()
    of_the_table = {word for cell in rows(page, "a word | means") for word in re.findall(r"`(\w+)\(", cell)}
    accuracies = {"ulps"}
    words = words_in_cpp(source) - FOR_PLANTED_DEFECTS
    assert of_the_table - accuracies <= words
    missing = words - of_the_table
    assert {word for word in missing if not re.search(rf"\.{word}\(", page)} == set()
    assert naming_words(source) <= of_the_table


def scope(source: Path) -> tuple[set[str], dict[str, set[str]]]:
    """The fields of Scope, and the values of its enumerations by their name."""
    header = (source / "conformance/judging/scope.h").read_text()
    body = header.partition("struct Scope {")[2].partition("\n};")[0]
    code = re.sub(r"//.*", "", body)
    enumerations = {
        name: set(re.findall(r"\w+", values))
        for name, values in re.findall(r"enum class (\w+) \{(.*?)\}", code, re.DOTALL)
    }
    fields = re.sub(r"enum class \w+ \{.*?\};", "", code, flags=re.DOTALL)
    return set(re.findall(r"(\w+) = [^;]+;", fields)), enumerations


def test_the_page_about_checks_has_every_field_of_a_scope(source: Path) -> None:
    page = (source / "docs/checks.md").read_text()
    fields, _ = scope(source)
    documented = {word for cell in rows(page, "member | meaning") for word in re.findall(r"`(\w+)`", cell)}
    assert documented == fields


@pytest.mark.parametrize("enumeration", ["Variants", "Dtypes", "Sweep", "Device"])
def test_the_page_about_checks_has_every_value_of_a_field(source: Path, enumeration: str) -> None:
    page = (source / "docs/checks.md").read_text()
    [row] = re.findall(rf"^\| `{enumeration.lower()}` \| (.*) \|$", page, re.MULTILINE)
    _, enumerations = scope(source)
    assert set(re.findall(r"`(\w+)`", row)) == enumerations[enumeration]


def test_the_page_about_checks_has_every_field_of_a_check_in_python(source: Path) -> None:
    page = (source / "docs/checks.md").read_text()
    section = page.partition("\n## A check of the Python half")[2].partition("\n## ")[0]
    by_the_decorator = {"id", "judge", "explanation"}
    fields = set(Check.__dataclass_fields__) - by_the_decorator
    assert {field for field in fields if f"`{field}`" not in section} == set()
