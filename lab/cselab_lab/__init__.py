"""Running things: experiments, headless notebooks and the command line."""
