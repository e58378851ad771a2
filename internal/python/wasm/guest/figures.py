"""Matplotlib figures that a script shows or leaves open become PNG files of the call."""

import io
import os
import sys
import weakref

FOLDER = "/.sallyport/"
LIMIT = 64  # figures of one call
LONGEST = 1600  # pixels of a side: what models and people look at is scaled down to this anyway

_files = weakref.WeakKeyDictionary()  # figure -> the picture below /workspace that it was saved to last
_saved = 0
_skipped = 0
_left = 0  # bytes that may still be written


def begin(limit):
    global _left
    _left = limit


def _render(figure, room):
    """Draws a figure small enough for the room that is left; None when three tries do not do."""
    dpi = min(figure.dpi, LONGEST / max(*figure.get_size_inches(), 0.01))
    for _ in range(3):
        picture = io.BytesIO()
        figure.savefig(picture, format="png", dpi=dpi)
        size = picture.tell()
        if size <= room:
            return picture.getvalue()
        dpi *= 0.9 * (room / size) ** 0.5
        if dpi < 10:
            break
    return None


def _save(figure):
    global _saved, _skipped, _left
    # One picture never takes more than half of what all of them may have.
    room = max(_left // 2, min(_left, 100_000))
    try:
        data = _render(figure, room) if _saved < LIMIT and room > 5_000 else None
    except BaseException as error:
        # The script's own figure cannot be drawn: a fact about it, as its savefig() would say.
        sys.stderr.write(f"a figure could not be drawn: {error.__class__.__name__}: {error}\n")
        return
    if data is None:
        _skipped += 1
        return
    try:
        with open(f"{FOLDER}figure-{_saved + 1}.png", "wb") as f:
            f.write(data)
    except OSError:
        _skipped += 1
        return
    _left -= len(data)
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
            figure = manager.canvas.figure
            if not _comes_back(figure):
                _save(figure)
        finally:
            helpers.Gcf.destroy(manager)


def _comes_back(figure):
    """Says whether the script has saved the figure, as it is now, to a picture that comes back."""
    path = _files.get(figure)
    try:
        return path is not None and not figure.stale and 0 < os.stat(path).st_size <= _left // 2
    except (OSError, TypeError):
        return False


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
    save = Figure.savefig

    def savefig(self, fname, **kwargs):
        result = save(self, fname, **kwargs)
        _files.pop(self, None)
        if isinstance(fname, (str, os.PathLike)) and kwargs.get("format", "png") == "png":
            path = os.path.abspath(os.fspath(fname))
            if isinstance(path, str) and path.startswith("/workspace/"):
                _files[self] = path if os.path.splitext(path)[1] == ".png" else path + ".png"
        return result

    savefig.__doc__, savefig.__module__ = save.__doc__, save.__module__
    Figure.savefig = savefig
    original = Figure.show

    def figure_show(self, warn=True):
        if self.canvas.manager is None:
            return original(self, warn)
        self.canvas.manager.show()
        sys.modules["matplotlib._pylab_helpers"].Gcf.destroy(self.canvas.manager)

    Figure.show = figure_show
