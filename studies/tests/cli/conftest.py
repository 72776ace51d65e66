"""Commands are run as the library's tests run them."""

import cli_running

run = cli_running.run
