"""How the bundled encoders were made: a small plain BERT pretrained on a text."""
