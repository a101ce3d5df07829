"""Points kazoo's own test suite at a server that already runs on KAZOO_SERVER_PORT.

The suite wants to start an ensemble of three Java servers and to stop single members of it. Here
the three members are three doors (door.py) to the one running server: a client that loses one
finds the same state behind another, and a member that comes back has forgotten nothing.

`excluded.toml` beside this file names the tests that are not run. Every other test has to pass:
one that skips itself fails, and so does the whole run if the list names a test that is not there.
"""

import atexit
import logging
import os
import pathlib
import random
import socket
import subprocess
import sys
import tomllib
import types

import pytest

HERE = pathlib.Path(__file__).parent
EXCLUDED = tomllib.loads((HERE / "excluded.toml").read_text())["excluded"]
SERVER_PORT = int(os.environ["KAZOO_SERVER_PORT"])

# The suite's own cluster makes certificates with these; the tests that need them are excluded.
for module in ("OpenSSL", "jks"):
    sys.modules.setdefault(module, types.ModuleType(module))

from kazoo.testing import harness  # noqa: E402

# pytest shows the log of a test that fails. Between tests nobody listens, and Python would write
# the warnings of clients that end late to stderr.
logging.getLogger().addHandler(logging.NullHandler())


def free_port():
    # Below the range of outgoing connections: there a client that retries while the door is shut
    # could be given the door's own port, and connect to itself.
    while True:
        port = random.randrange(20000, 30000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


class Member:
    """What the suite asks of a member of the ensemble (`ManagedZooKeeper`)."""

    def __init__(self):
        self.client_port = free_port()
        self.address = f"127.0.0.1:{self.client_port}"
        self.door = None

    @property
    def running(self):
        return self.door is not None

    def run(self):
        if self.running:
            return
        self.door = subprocess.Popen(
            [sys.executable, HERE / "door.py", str(self.client_port), str(SERVER_PORT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        if not self.door.stdout.readline():
            raise RuntimeError(f"the door at {self.address} did not open")

    def stop(self):
        if self.running:
            self.door.kill()
            self.door.wait()
            self.door.stdin.close()
            self.door.stdout.close()
            self.door = None


class Cluster(list):
    """What the suite asks of the ensemble (`ZookeeperCluster`)."""

    def start(self):
        for member in self:
            member.run()

    def stop(self):
        for member in self:
            member.stop()

    def terminate(self):
        # Asked for after every class of tests. The tests work under roots of their own, so they
        # can share one server.
        pass

    def get_logs(self):
        return []


CLUSTER = Cluster(Member() for _ in range(3))
atexit.register(CLUSTER.stop)
harness.get_global_cluster = lambda: CLUSTER


STALE = set()  # Names in the list that no test has.


def name(item):
    return item.nodeid.removeprefix("kazoo/tests/")


def pytest_addoption(parser):
    parser.addoption("--excluded", action="store_true", help="run the excluded tests, only these")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    STALE.update(EXCLUDED.keys() - {name(item) for item in items})
    # Workers collect, the controller reports.
    if hasattr(config, "workeroutput"):
        config.workeroutput["stale"] = sorted(STALE)
    wanted = config.getoption("--excluded")
    config.hook.pytest_deselected(items=[i for i in items if (name(i) in EXCLUDED) != wanted])
    items[:] = [i for i in items if (name(i) in EXCLUDED) == wanted]

    # Who leaves this barrier of `test_lock_many_threads` no longer counts as arrived. A thread that
    # has not looked since the last one came would then wait for ever: a matter of milliseconds,
    # and of fewer the faster the server is. Here all who came are counted.
    sys.modules["kazoo.tests.test_lock"].SleepBarrier.__exit__ = lambda *_: None


def pytest_runtest_setup(item):
    # A dead server would let each test that is left run into its timeout.
    try:
        socket.create_connection(("127.0.0.1", SERVER_PORT), timeout=10).close()
    except OSError as error:
        pytest.fail(f"the server is gone: {error}", pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.skipped:
        report.outcome = "failed"
        report.longrepr = f"skipped, and not in excluded.toml: {call.excinfo.value}"
    return report


def pytest_testnodedown(node):
    STALE.update(getattr(node, "workeroutput", {}).get("stale", []))


def pytest_sessionfinish(session):
    if STALE:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    passed, failed, errors = (
        len(terminalreporter.stats.get(outcome, [])) for outcome in ("passed", "failed", "error")
    )
    for test in sorted(STALE):
        terminalreporter.write_line(f"excluded.toml names {test}, which is no test of the suite")
    terminalreporter.write_line(
        f"{passed} passed, {failed + errors + len(STALE)} failed, {len(EXCLUDED)} excluded"
    )
