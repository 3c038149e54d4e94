"""Where people already work: sentence-transformers, MTEB, scikit-learn, pandas, the Hugging Face hub.

Each module is imported by its name, and imports its library itself; cselab needs none of them.

* `cselab.integrations.sentence_transformers`: alignment, uniformity and effective rank in their trainer.
* `cselab.integrations.mteb`: the results that MTEB wrote.
* `cselab.integrations.sklearn`: an encoder as a step of a pipeline.
* `cselab.integrations.hub`: an encoder on the Hugging Face hub, with a card of its scores.
"""
