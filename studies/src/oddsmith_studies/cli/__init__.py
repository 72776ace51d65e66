"""The commands that ``oddsmith`` gets from this package: ``oddsmith study`` and ``oddsmith data``."""
