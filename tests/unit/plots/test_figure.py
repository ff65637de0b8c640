import io
import pickle

import matplotlib.figure

from inbounds.plots.figure import ShownFigure
from inbounds.plots.style import blank, tidy


def drawn():
    figure = blank(2, 1)
    tidy(figure.add_subplot(), "Error", "epsilon", "RMSE")
    return figure


def test_a_blank_figure_is_one_that_notebooks_show():
    picture, metadata = drawn()._repr_png_()
    assert picture.startswith(b"\x89PNG")
    assert metadata == {"alt": "Figure. Error: RMSE against epsilon."}


def test_the_description_leaves_out_what_has_no_name():
    figure = blank(2, 2)
    figure.suptitle("Two\npanels.")
    figure.add_subplot(1, 3, 1, xlabel="x")
    figure.add_subplot(1, 3, 2, title="Right")
    figure.add_subplot(1, 3, 3)
    assert figure.description() == "Two panels. x. Right."


def test_it_is_a_figure_like_any_other():
    figure = drawn()
    assert isinstance(figure, matplotlib.figure.Figure)
    file = io.BytesIO()
    figure.savefig(file, format="svg")
    assert b"<svg" in file.getvalue()


def test_a_copy_by_pickle_is_shown_too():
    copy = pickle.loads(pickle.dumps(drawn()))
    assert type(copy) is ShownFigure
    assert copy._repr_png_()[0].startswith(b"\x89PNG")
