"""Speed and memory, measured as ratios against peers side by side in one run: ``make bench``."""
