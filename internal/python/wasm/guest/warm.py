"""Work that the first use of a package does once, done before the image is taken."""

import sys


def _plot():
    from matplotlib import pyplot
    import io

    # Fonts, glyphs and styles are read on first use. The figure goes to memory and is closed.
    figure, axes = pyplot.subplots()
    axes.plot([0, 1, 2], [0, 1, 4], label="warm")
    axes.set_title("0123456789 abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ -+.,")
    axes.set_xlabel("x")
    axes.legend()
    figure.savefig(io.BytesIO(), format="png")
    pyplot.close("all")


def _frames():
    import io

    import pandas

    frame = pandas.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "x"], "t": pandas.date_range("2024-01-01", periods=3)})
    frame.groupby("b")["a"].sum()
    frame.describe()
    repr(frame)
    text = frame.to_csv(index=False)
    pandas.read_csv(io.StringIO(text), parse_dates=["t"])
    frame.to_json()
    frame.merge(frame, on="b").pivot_table(index="b", values="a_x")


def _models():
    import numpy
    from sklearn.linear_model import LinearRegression, LogisticRegression

    x = numpy.arange(20.0).reshape(10, 2)
    LinearRegression().fit(x, x[:, 0]).predict(x)
    LogisticRegression().fit(x, [0, 1] * 5)


def warm():
    import asyncio
    import warnings

    asyncio.run(asyncio.sleep(0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module, work in (("matplotlib.pyplot", _plot), ("pandas", _frames), ("sklearn.linear_model", _models)):
            if module in sys.modules:
                work()
