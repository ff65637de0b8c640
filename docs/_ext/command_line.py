"""The reference of the command line, made of the help that the commands themselves print."""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from typer.main import get_command

from inbounds.cli.app import app as inbounds

_MARKUP = re.compile(r"\[/?(?:bold|dim|italic)\]")


def commands(command: Any = None, name: str = "inbounds") -> list[tuple[str, Any]]:
    """Return every command with its full name, in the order of the help."""
    command = command or get_command(inbounds)
    own = [(name, command)]
    for short, below in getattr(command, "commands", {}).items():
        own += commands(below, f"{name} {short}")
    return own


def _plain(text: str | None) -> str:
    return _MARKUP.sub("", text or "").strip()


def _sentence(words: str) -> nodes.paragraph:
    """Return words with options as code."""
    parts = re.split(r"(--[a-z][\w-]*(?:=\S*\w)?)", words)
    made = [nodes.literal("", w) if place % 2 else nodes.Text(w) for place, w in enumerate(parts)]
    return nodes.paragraph("", "", *made)


def _paragraphs(text: str) -> list[nodes.Node]:
    """Return words as paragraphs and commands, which start with `$`, as blocks."""
    made: list[nodes.Node] = []
    for part in re.split(r"\n\s*\n", text):
        if not part.strip():
            continue
        if part.startswith("$ "):
            code = "\n".join(line.removeprefix("$ ") for line in part.splitlines())
            made.append(nodes.literal_block(code, code, language="sh"))
        elif part.strip() == "Examples":
            made.append(nodes.rubric("", "Examples"))
        else:
            made.append(_sentence(" ".join(part.split())))
    return made


def _option(parameter: Any, context: Any, command: str) -> nodes.definition_list_item:
    """Return the name of an option or argument, and the words of its help."""
    name, words = parameter.get_help_record(context) or (parameter.name, parameter.help)
    term = nodes.term("", "", nodes.literal("", name))
    term["ids"].append(nodes.make_id(f"{command} {parameter.name}"))
    return nodes.definition_list_item("", term, nodes.definition("", _sentence(_plain(words))))


class CommandLine(SphinxDirective):
    """A section for each command: its words, its options, its examples."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        return [self._section(name, command) for name, command in commands()[1:]]

    def _section(self, name: str, command: Any) -> nodes.section:
        context = command.make_context(name, [], resilient_parsing=True)
        section = nodes.section(ids=[nodes.make_id(name)], names=[name])
        section += nodes.title(name, name)
        section += _paragraphs(_plain(command.help))
        usage = " ".join(command.collect_usage_pieces(context))
        section += nodes.literal_block(usage, f"{name} {usage}", language="text")
        options = nodes.definition_list(classes=["options"])
        for parameter in command.params:
            if not getattr(parameter, "hidden", False):
                options += _option(parameter, context, name)
        section += [options] * bool(options.children)
        section += _paragraphs(_plain(command.epilog))
        self.state.document.note_explicit_target(section)
        return section


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
