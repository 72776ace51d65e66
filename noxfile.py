#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2025.2.9"]
# ///
"""The tasks of the Makefile under nox: ``nox -s lint`` runs ``make lint``."""

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "none"  # make sets up its own environments


def run_make(session: nox.Session) -> None:
    """Run the target of the Makefile that has the session's name."""
    session.run("make", session.name, *session.posargs, external=True)


for task in ("lint", "test"):
    nox.session(run_make, name=task)
for task in ("coverage", "demo", "dist", "docs", "newest", "oldest", "readme", "test-all", "types"):
    nox.session(run_make, name=task, default=False)

if __name__ == "__main__":
    nox.main()
