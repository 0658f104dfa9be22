"""Several threads of Python at once, forks, and Ctrl-C."""

import threading

import lanewise as lw
import numpy as np
import pytest
from subprocesses import run

from support import assert_same


def run_threads(count: int, work) -> None:
    """Calls work(i) in threads that start together; raises what one of them raised."""
    barrier = threading.Barrier(count)
    failures: list[BaseException] = []

    def body(i: int) -> None:
        try:
            barrier.wait()
            work(i)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=body, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    if failures:
        raise failures[0]


@pytest.mark.parametrize("n", [3, 100_000])
def test_shared_pending_nodes(n):
    for turn in range(20):
        x = lw.arange(n, dtype=lw.float64)
        shared = (x + turn) * 2
        expressions = [shared + i for i in range(4)] + [lw.sqrt(shared), shared, shared[::-1]]
        base = (np.arange(float(n)) + turn) * 2
        expected = [base + i for i in range(4)] + [np.sqrt(base), base, base[::-1]]
        results: list = [None] * 14

        def work(i, expressions=expressions, results=results):
            results[i] = np.asarray(expressions[i % 7])

        run_threads(14, work)
        for i, result in enumerate(results):
            assert np.array_equal(result, expected[i % 7])


def test_one_jitted_function():
    function = lw.jit(lambda x, c: {"y": c * x[:, 0] ** 2 + x[:, 1], "s": x.sum()})

    def work(i):
        for turn in range(60):
            n = (i * 7 + turn) % 40
            x = np.arange(2.0 * n).reshape(n, 2)
            result = function(lw.asarray(x) if turn % 2 else x, float(i))
            assert_same(result["y"], i * x[:, 0] ** 2 + x[:, 1])
            assert result["s"].item() == x.sum()

    run_threads(8, work)
    assert function.trace_count >= 40


def test_writes_to_arrays_of_each_thread():
    shared = lw.ones(1000) * 3

    def work(i):
        own = lw.zeros(1000)
        for _ in range(50):
            own += shared
            own[i] = 0
        expected = np.full(1000, 150.0)
        expected[i] = 0
        assert_same(own, expected)

    run_threads(8, work)


def test_out_of_jitted_functions():
    function = lw.jit(lambda x: x + 1)

    def work(i):
        own = lw.full(5000, float(i))
        for _ in range(50):
            function(own, out=own)
        assert_same(own, np.full(5000, i + 50.0))

    run_threads(8, work)


def test_errors_reach_every_thread_that_asks():
    power = lw.asarray([1, 2]) ** lw.asarray([1, -1])
    seen = []

    def work(_):
        with pytest.raises(ValueError, match="negative powers"):
            lw.eval(power + 1)
        seen.append(True)

    run_threads(6, work)
    assert len(seen) == 6


def test_settings_while_others_evaluate():
    threads = lw.get_num_threads()
    try:

        def work(i):
            for turn in range(20):
                lw.set_num_threads(1 + turn % 3)
                assert (lw.arange(200_000) * i).sum().item() == i * 199_999 * 100_000

        run_threads(4, work)
    finally:
        lw.set_num_threads(threads)


# ---- fork ----------------------------------------------------------------------------------------
FORK = """
    import os, sys, threading
    import lanewise as lw
    import numpy as np

    lw.set_num_threads(2)
    x = lw.arange(3_000_000, dtype=lw.float64)
    pending = lw.sin(x) + 1
    step = lw.jit(lambda a, c: c * a + 1)
    step(x, 2.0), lw.eval(x * 3)
    lw.manual_seed(0)

    def check():
        n = np.arange(3_000_000.0)
        assert np.array_equal(step(x, 2.0), 2 * n + 1)             # compiled before
        assert np.array_equal(lw.floor(x / 7) - 5, n // 7 - 5)     # compiled now
        assert abs(np.asarray(pending)[1] - 1.8414709848) < 1e-9
        assert lw.rand(1).item() == np.float32(0.49625659)
        assert lw.jit(lambda a: a - c)(x)[0].item() == -c

    c = 4.0
    child = os.fork()
    if child == 0:
        code = 1
        try:
            check()
            code = 0
        finally:
            os._exit(code)
    check()
    assert os.waitpid(child, 0)[1] == 0
"""


def test_child_of_fork_works():
    run(FORK)


FORK_WHILE_EVALUATING = """
    import os, threading, time
    import lanewise as lw

    lw.set_num_threads(2)
    long = lw.sum(lw.sin(lw.reshape(lw.arange(2**36, dtype=lw.float64), (2**18, 2**18))), axis=1)
    threading.Thread(target=lambda: lw.eval(long), daemon=True).start()
    time.sleep(0.5)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            assert (lw.arange(1000) + 1).sum().item() == 500500
            try:
                lw.eval(long)
            except ValueError as error:
                assert "another thread was computing" in str(error), error
                code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    os._exit(0)
"""


def test_fork_while_another_thread_evaluates():
    run(FORK_WHILE_EVALUATING)


# ---- Ctrl-C --------------------------------------------------------------------------------------

# Each of these would take minutes; SIGINT comes after a moment.
INTERRUPT = """
    import os, signal, sys, threading, time
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell said so
    import lanewise as lw
    import numpy as np

    n = 2**18
    long = lw.sum(lw.sin(lw.reshape(lw.arange(n * n, dtype=lw.float64), (n, n))), axis=1)
    function = lw.jit(lambda x, c: lw.sum(lw.sin(x[:, None] * c + x), axis=1))

    def wait_for_another_thread():
        threading.Thread(target=lambda: lw.eval(long), daemon=True).start()
        time.sleep(0.2)
        lw.eval(long)

    ways = {
        "eval": lambda: lw.eval(long),
        "asarray": lambda: np.asarray(long),
        "memoryview": lambda: memoryview(long),
        "tolist": lambda: long.tolist(),
        "item": lambda: float(long[0]),
        "repr": lambda: repr(long),
        "ufunc": lambda: np.add(long, 1, out=np.zeros(n)),
        "jit": lambda: function(np.arange(float(n)), 0.5),
        "wait": wait_for_another_thread,
    }
    sent = []
    def interrupt():
        time.sleep(1)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=interrupt, daemon=True).start()
    caught = None
    try:
        ways[sys.argv[1]]()
    except KeyboardInterrupt:
        caught = time.monotonic()
    assert caught is not None, "nobody raised KeyboardInterrupt"
    print(caught - sent[0])
    assert (lw.arange(10) + 1).sum().item() == 55
    try:
        np.asarray([1]), np.asarray(lw.ones(3)), time.sleep(0.1)
    except KeyboardInterrupt:
        raise AssertionError("raised twice")
    sys.stdout.flush()
    os._exit(0)
"""


@pytest.mark.parametrize(
    "way", ["eval", "asarray", "memoryview", "tolist", "item", "repr", "ufunc", "jit", "wait"]
)
def test_interrupt(way):
    # A second on an idle machine; the limit leaves room for a busy one.
    assert float(run(INTERRUPT, way)) < 10


def test_handlers_of_signals_are_left_alone():
    run(
        """
        import signal
        names = [s for s in signal.Signals]
        before = {s: signal.getsignal(s) for s in names}
        import lanewise as lw
        lw.eval(lw.arange(1_000_000) * 2)
        assert {s: signal.getsignal(s) for s in names} == before
        """
    )
