import engines
import pytest


@pytest.fixture(scope="session")
def postgres():
    with engines.postgres_server() as connection:
        yield connection
