"""What is kept on disk: training state, folders of runs, folders of encoders."""
