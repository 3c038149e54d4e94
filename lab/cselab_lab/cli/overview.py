"""The commands and what `cselab --help` says of them."""

TITLE = "Contrastive learning of sentence embeddings: train, measure, take apart."
OPTIONS = {
    "--version": "Say which cselab this is.",
    "--code FILE": "Run your FILE first, for the methods and suites in it.",
    "--install-completion": "Complete names in your shell; says what it edits.",
    "-h, --help": "Show this message and exit.",
}
COMMANDS = {
    "train": ("training", "Train an encoder with a method."),
    "evaluate": ("measuring", "Score an encoder; fails if a task has no score."),
    "baselines": ("measuring", "Score an encoder and simple baselines."),
    "compare": ("comparing", "Test whether one encoder is better than another."),
    "diagnose": ("diagnosing", "Name what is wrong with a run, an encoder or vectors."),
    "explain-score": ("diagnosing", "Say which unsaid choice makes a score another than expected."),
    "ties": ("diagnosing", "Say which systems of a table of scores can be told apart."),
    "encode": ("encoding", "Write the vectors of a file's sentences."),
    "search": ("encoding", "Find the sentences of a file that are nearest to a query."),
    "methods": ("showing", "List the methods, or show one."),
    "doctor": ("showing", "Say what this machine has, and what would run on it."),
    "published": ("published", "Print a table of a paper as it was published."),
    "data": ("data", "The public data sets on this machine."),
    "notebooks": ("notebooks", "The notebooks: list, copy, run headless."),
    "world": ("world", "Text of the bundled world, on standard output."),
    "experiment": ("experiments", "The papers' experiments: list, run, read."),
}
"""The commands: the module of each, and its first sentence."""


def help_text() -> str:
    """What `cselab --help` prints."""
    lines = ["Usage: cselab [OPTIONS] COMMAND [ARGS]...", "", f"  {TITLE}", "", "Options:"]
    lines += [f"  {name:20}  {told}" for name, told in OPTIONS.items()]
    lines += ["", "Commands:"] + [f"  {name:13}  {told}" for name, (_, told) in COMMANDS.items()]
    return "\n".join(lines)
