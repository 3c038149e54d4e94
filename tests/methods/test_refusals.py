"""Methods refuse what they cannot train, with the name of it, what was given and what is expected."""

from refusals import check_refused, refusals

NAMES, each_refusal = refusals("methods/refusals.md")


@each_refusal
def test_methods_refuse_what_they_cannot_train(kind, words, call, tmp_path):
    (tmp_path / "table.tsv").write_text("vector\tentity\n1 0\tBo\n3 4\tAnn\n")
    check_refused(kind, words, call, NAMES, table=str(tmp_path / "table.tsv"))
