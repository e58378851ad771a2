"""Matplotlib figures that a script shows or leaves open become PNG files of the call."""

import os
import sys

_saved = 0
_skipped = 0
_left = 0  # bytes that may still be written
FOLDER = "/.sallyport/"
LIMIT = 64


def begin(limit):
    global _left
    _left = limit


def _save(figure):
    global _saved, _skipped, _left
    if _saved >= LIMIT or _left <= 0:
        _skipped += 1
        return
    path = f"{FOLDER}figure-{_saved + 1}.png"
    try:
        figure.savefig(path, format="png")
        size = os.stat(path).st_size
    except OSError:
        _skipped += 1
        _left = 0
        return
    _left -= size
    _saved += 1


def show(*_args, **_kwargs):
    """Takes the place of pyplot.show: saves and closes what is open, as a notebook does."""
    collect()


def collect():
    """Saves and closes each open figure, in order of its number."""
    helpers = sys.modules.get("matplotlib._pylab_helpers")
    if helpers is None:
        return
    for manager in list(helpers.Gcf.get_all_fig_managers()):
        try:
            _save(manager.canvas.figure)
        finally:
            helpers.Gcf.destroy(manager)


def counts():
    return _saved, _skipped


def install():
    if "matplotlib.pyplot" not in sys.modules:
        return
    from matplotlib import pyplot
    from matplotlib.backends import backend_agg
    from matplotlib.figure import Figure

    pyplot.switch_backend("agg")
    show.__name__ = show.__qualname__ = "show"
    show.__module__ = "matplotlib.pyplot"
    pyplot.show = show
    if "matplotlib.pylab" in sys.modules:
        sys.modules["matplotlib.pylab"].show = show
    backend_agg.FigureCanvasAgg.manager_class.show = lambda manager: _save(manager.canvas.figure)
    original = Figure.show

    def figure_show(self, warn=True):
        if self.canvas.manager is None:
            return original(self, warn)
        self.canvas.manager.show()
        sys.modules["matplotlib._pylab_helpers"].Gcf.destroy(self.canvas.manager)

    Figure.show = figure_show
