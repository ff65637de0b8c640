"""The Python and the command line that give exactly the numbers of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inbounds._check import format_numbers
from inbounds.cli.explore.risk import DELTA
from inbounds.cli.rounded import Rounded, is_rounded_after

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inbounds.cli.explore.question import Question
    from inbounds.guarantee import Guarantee

_NORMS = {"l2": "ib.L2", "l1": "ib.L1", "linf": "ib.LInf", "each": "ib.PerCoordinate"}


def python(question: Question) -> str:
    """Return Python that prints the mechanism, what it gives, and its outputs for the value.

    Raises
    ------
    ArgumentError
        If the mechanism cannot give the guarantee.

    Examples
    --------
    >>> from inbounds.cli.explore.question import Question
    >>> asked = {"bounds": [[0, 120]], "sensitivity": [2.5], "guarantee": {"epsilon": 1}}
    >>> print(python(Question.read(asked)))
    import numpy as np
    <BLANKLINE>
    import inbounds as ib
    from inbounds.analysis.error import ErrorSummary
    <BLANKLINE>
    box = ib.Box(0, 120)
    mechanism = ib.calibrate(box, 2.5, epsilon=1)
    print(mechanism)
    print("epsilon, rho, mu:", mechanism.epsilon, mechanism.rho, mechanism.gdp)
    error = ErrorSummary.of(mechanism)
    print("RMSE, average and worst:", error.average_rmse, error.worst_rmse)
    print("bias, worst:", error.worst_bias)
    value = 60
    print("RMSE:", np.sqrt(mechanism.mse(value)))
    print("bias:", mechanism.bias(value))
    print("95 % of outputs:", mechanism.output_interval(value, 0.95))
    print("the true value, if this were the output (95 %):", mechanism.confidence(value, 0.95))
    """
    people = "" if question.people is None else f", {question.people}"
    imported, blank, *opening = _opening(question)
    lines = [
        *("import numpy as np", "", imported, "from inbounds.analysis.error import ErrorSummary"),
        *(blank, *opening, f"mechanism = ib.{_calibration(question)}", "print(mechanism)"),
        'print("epsilon, rho, mu:", mechanism.epsilon, mechanism.rho, mechanism.gdp)',
        *_relaxed(question),
        f"error = ErrorSummary.of(mechanism{people})",
        'print("RMSE, average and worst:", error.average_rmse, error.worst_rmse)',
        'print("bias, worst:", error.worst_bias)',
        *_outputs(question),
    ]
    if not question.is_joint:
        said = '"the true value, if this were the output (95 %):"'
        lines += [f"print({said}, mechanism.confidence(value, 0.95))"]
    if question.people is not None:
        lines += ['print("error of the mean:", error.mean_rmse)']
    return "\n".join(lines)


def _relaxed(question: Question) -> list[str]:
    """Return the line about the delta that was asked for, or that a rho is explained by."""
    epsilon, delta = question.promised.epsilon, question.promised.delta
    if question.guarantee.rho is not None:
        delta = DELTA
    if not delta:
        return []
    found, said = f"mechanism.epsilon_at({format_numbers(delta)})", format_numbers(delta)
    if epsilon is not None and question.mechanism().delta(epsilon) <= delta:
        found = f"min({format_numbers(epsilon)}, {found})"
    return [f'print("epsilon at delta {said}:", {found})']


def _outputs(question: Question) -> list[str]:
    """Return the lines about the outputs for the value, rounded if people see them so."""
    mechanism = question.mechanism()
    rounded = Rounded.of(mechanism)
    start = f"value = {_vector(question.value)}"
    if rounded is None:
        return [
            start,
            'print("RMSE:", np.sqrt(mechanism.mse(value)))',
            'print("bias:", mechanism.bias(value))',
            *_interval(question.step if is_rounded_after(mechanism) else None),
        ]
    assert question.step is not None
    lower, step = format_numbers(question.bounds[0][0]), format_numbers(question.step)
    return [
        start,
        f"outputs = {lower} + {step} * np.arange({rounded.points.size})",
        f"upto = mechanism.cdf(outputs[:-1] + {step} / 2, value)  # outputs are rounded",
        "chances = np.diff(upto, prepend=0, append=1)",
        'print("RMSE:", np.sqrt(chances @ (outputs - value) ** 2))',
        'print("bias:", chances @ (outputs - value))',
        "ends = np.searchsorted(np.cumsum(chances), [0.025, 0.975])",
        'print("95 % of outputs:", outputs[ends])',
    ]


def _interval(step: float | None) -> list[str]:
    """Return the lines about the interval, whose ends are rounded as outputs are."""
    found = "mechanism.output_interval(value, 0.95)"
    if step is None:
        return [f'print("95 % of outputs:", {found})']
    written = format_numbers(step)
    return [
        f"ends = np.round((np.array({found}) - box.lower) / {written})",
        f"ends = np.clip(ends, 0, np.floor(box.widths / {written} + 1e-9))",
        f'print("95 % of outputs:", box.lower + {written} * ends)',
    ]


def python_of_comparison(question: Question) -> str:
    """Return Python that prints the table of all mechanisms.

    Examples
    --------
    >>> from inbounds.cli.explore.question import Question
    >>> asked = {"bounds": [[0, 1]], "sensitivity": [1], "guarantee": {"rho": 0.1}}
    >>> print(python_of_comparison(Question.read(asked)))
    import inbounds as ib
    <BLANKLINE>
    box = ib.Box(0, 1)
    print(ib.compare(box, 1, rho=0.1))
    """
    return "\n".join([*_opening(question), f"print(ib.{_comparison(question)})"])


def command(question: Question) -> str:
    """Return the command that shows the mechanism and its errors.

    Examples
    --------
    >>> from inbounds.cli.explore.question import Question
    >>> asked = {"bounds": [[-5, 5]], "sensitivity": [2.5], "guarantee": {"epsilon": 1}}
    >>> command(Question.read(asked))
    'inbounds calibrate --bounds=-5:5 --sensitivity 2.5 --epsilon 1 --mechanism best --value 0'
    """
    method = f" --method {question.method}" if question.method else ""
    values = " ".join(_option("--value", format_numbers(x)) for x in question.value)
    made = f"--mechanism {question.option}{method}"
    return f"inbounds calibrate {_options(question, question.promised)} {made} {values}"


def command_of_comparison(question: Question) -> str:
    """Return the command that shows the table of all mechanisms.

    Examples
    --------
    >>> from inbounds.cli.explore.question import Question
    >>> asked = {"bounds": [[0, 1]], "sensitivity": [1], "guarantee": {"epsilon": 1}}
    >>> command_of_comparison(Question.read(asked | {"people": 1000}))
    'inbounds compare --bounds 0:1 --sensitivity 1 --epsilon 1 --people 1000'
    """
    return f"inbounds compare {_options(question, question.guarantee)}"


def _opening(question: Question) -> list[str]:
    if question.is_joint:
        ends = ", ".join(map(_vector, zip(*question.bounds, strict=True)))
    else:
        ends = ", ".join(map(format_numbers, question.bounds[0]))
    step = "" if question.step is None else f", step={format_numbers(question.step)}"
    return ["import inbounds as ib", "", f"box = ib.Box({ends}{step})"]


def _vector(numbers: Sequence[float]) -> str:
    """Return numbers as a list, or one number by itself."""
    texts = [format_numbers(float(number)) for number in numbers]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _sensitivity(question: Question) -> str:
    bound = _vector(question.sensitivities)
    return bound if question.norm == "l2" else f"{_NORMS[question.norm]}({bound})"


def _written(guarantee: Guarantee) -> str:
    stated = guarantee.stated().items()
    return ", ".join(f"{name}={format_numbers(number)}" for name, number in stated)


def _calibration(question: Question) -> str:
    given = f"box, {_sensitivity(question)}, {_written(question.promised)}"
    if question.option == "best":
        people = "" if question.people is None else f", people={question.people}"
        return f"calibrate({given}{people})"
    if question.method is None:
        return f"{_class(question)}.calibrated({given})"
    delta = "" if question.guarantee.delta else ", delta=0"
    return f'{_class(question)}.calibrated({given}{delta}, method="{question.method}")'


def _comparison(question: Question) -> str:
    people = "" if question.people is None else f", people={question.people}"
    return f"compare(box, {_sensitivity(question)}, {_written(question.guarantee)}{people})"


def _class(question: Question) -> str:
    return "".join(map(str.capitalize, question.option.split("-")))


def _options(question: Question, guarantee: Guarantee) -> str:
    words = [_option("--bounds", ":".join(map(format_numbers, pair))) for pair in question.bounds]
    if question.step is not None:
        words.append(_option("--step", format_numbers(question.step)))
    words += [_option("--sensitivity", format_numbers(x)) for x in question.sensitivities]
    if question.norm != ("l2" if len(question.sensitivities) == 1 else "each"):
        words.append(_option("--norm", question.norm))
    words += [
        _option(f"--{name}", format_numbers(number)) for name, number in guarantee.stated().items()
    ]
    if question.people is not None:
        words.append(_option("--people", str(question.people)))
    return " ".join(words)


def _option(name: str, text: str) -> str:
    """Return an option and its text, which must not look like another option."""
    return f"{name}={text}" if text.startswith("-") else f"{name} {text}"
