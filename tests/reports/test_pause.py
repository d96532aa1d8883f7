import gc
import threading

import pytest
from dream_eval.reports import read_report
from dream_eval.reports.pause import collector_paused


def test_the_collector_is_put_back_as_it_was():
    with collector_paused():
        assert not gc.isenabled()
        with collector_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), collector_paused():
        raise ZeroDivisionError
    assert gc.isenabled()
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_last_of_several_threads_puts_it_back():
    inside, leave = threading.Barrier(2), threading.Event()

    def other():
        with collector_paused():
            inside.wait(10)
            leave.wait(10)

    thread = threading.Thread(target=other)
    with collector_paused():
        thread.start()
        inside.wait(10)
    assert not gc.isenabled()
    leave.set()
    thread.join(10)
    assert gc.isenabled()


def test_reading_leaves_it_on():
    read_report("# A\n\nIt is [1].\n", id="x")
    assert gc.isenabled()
