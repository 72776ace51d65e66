"""The documents' experiments, again: ``studies`` runs them, ``data`` finds their data sets, ``cli`` adds the commands.

Nothing is imported here, so that ``oddsmith --help`` can list the commands without loading what they do.
"""
