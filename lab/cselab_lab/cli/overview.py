"""The commands, and the text of `cselab --help`."""

TITLE = "Contrastive learning of sentence embeddings: train, measure, analyse."
OPTIONS = {
    "--version": "Print the version of cselab.",
    "--code FILE": "Run your FILE first, to use its methods and suites.",
    "-h, --help": "Show this message and exit.",
}
COMMANDS = {
    "train": ("training", "Train an encoder with a method."),
    "evaluate": ("measuring", "Score an encoder; fails if a task has no score."),
    "baselines": ("measuring", "Score an encoder and simple baselines."),
    "compare": ("measuring", "Test whether one encoder is better than a second."),
    "diagnose": ("diagnosing", "Check a run, an encoder or vectors for known faults."),
    "explain-score": ("diagnosing", "Find the evaluation setting that explains a score."),
    "words": ("diagnosing", "Find the words that make two sentences alike."),
    "ties": ("diagnosing", "Find the systems in a table of scores that tie."),
    "encode": ("encoding", "Write the vectors of the sentences in a file."),
    "search": ("encoding", "Find the sentences in a file nearest to a query."),
    "methods": ("showing", "List the methods, or show one."),
    "doctor": ("showing", "Show hardware and installed features."),
    "published": ("experiments", "Print a published table of a paper."),
    "data": ("data", "Check, fetch and convert public data sets."),
    "notebooks": ("notebooks", "List, copy, run and collect the notebooks."),
    "world": ("data", "Print text from the bundled world."),
    "experiment": ("experiments", "List, run and compare the papers' experiments."),
}
"""The module and the first sentence of each command."""


GROUPS = {
    "Train and encode": "train encode search".split(),
    "Measure": "evaluate baselines compare ties".split(),
    "Explain": "diagnose explain-score words".split(),
    "Learn and look up": "notebooks methods experiment published world data doctor".split(),
}
"""The order of the commands in `cselab --help`."""


def help_text() -> str:
    """The text of `cselab --help`."""
    lines = ["Usage: cselab [OPTIONS] COMMAND [ARGS]...", "", f"  {TITLE}", "", "Options:"]
    lines += [f"  {name:12}  {summary}" for name, summary in OPTIONS.items()]
    for group, names in GROUPS.items():
        lines += ["", f"{group}:"] + [f"  {name:13}  {COMMANDS[name][1]}" for name in names]
    return "\n".join(lines)
