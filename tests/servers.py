"""Servers that tests start for themselves: PostgreSQL on a socket of its own, gone when the tests are.

Use it by importing the fixture into a conftest: ``from servers import postgres``.
"""

import getpass
import os
import pwd
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Postgres:
    """A running server: the folder with its socket, and its only user and database."""

    folder: Path
    user: str
    programs: Path

    @property
    def conninfo(self):
        """The connection in psycopg's words."""
        return f"host={self.folder} user={self.user} dbname=postgres"

    def ibis(self):
        """A new connection by Ibis."""
        import ibis

        return ibis.postgres.connect(host=str(self.folder), user=self.user, database="postgres")

    def start(self):
        """Make a database cluster and start its server: small, on a socket, without care for crashes of the machine."""
        self._run("initdb", "--pgdata", "data", "--auth", "trust", "--no-sync", "--encoding", "UTF8")
        options = f"-c listen_addresses='' -c fsync=off -c max_connections=20 -c shared_buffers=16MB -k {self.folder}"
        self._run("pg_ctl", "start", "--wait", "--pgdata", "data", "--log", "log", "--options", options)

    def stop(self):
        """Stop the server, whatever it is doing."""
        self._run("pg_ctl", "stop", "--mode", "immediate", "--pgdata", "data")

    def _run(self, program, *arguments):
        # The server refuses to run as root.
        start = ["runuser", "-u", self.user, "--"] if os.geteuid() == 0 else []
        subprocess.run(
            [*start, str(self.programs / program), *arguments],
            cwd=self.folder,
            check=True,
            stdout=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            timeout=60,
        )


def absent(what):
    """Skip the test where something is not installed, or fail in CI."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what} must be installed in CI")
    pytest.skip(f"{what} is not installed")


def start_postgres():
    """Return a server that runs, in a folder of its own."""
    found = shutil.which("initdb")
    places = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not places:
        absent("PostgreSQL")
    folder = Path(tempfile.mkdtemp(prefix="pg"))  # the path of a socket must be short
    user = getpass.getuser()
    if os.geteuid() == 0:
        user = next(name for name in ("postgres", "nobody") if any(name == known.pw_name for known in pwd.getpwall()))
        shutil.chown(folder, user)
    server = Postgres(folder, user, places[-1])
    server.start()
    return server


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server for this run."""
    server = start_postgres()
    yield server
    server.stop()
    shutil.rmtree(server.folder, ignore_errors=True)
