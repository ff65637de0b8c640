from typing import Any

import pytest

from inbounds.accounting.priced import loss_of
from inbounds.errors import ArgumentTypeError
from inbounds.loss import PrivacyLoss


class Foreign:
    """A mechanism of another library."""

    def __init__(self, loss: Any) -> None:
        self.loss = lambda: loss


def test_the_loss_of_a_release_is_a_plain_copy() -> None:
    class Changeable(PrivacyLoss):
        pass

    loss = PrivacyLoss.pure(0.5)
    changeable = Changeable(loss.epsilon, loss.mu, loss.rho, loss.profile)
    for release in (loss, changeable, Foreign(changeable)):
        assert loss_of(release) == loss
        assert type(loss_of(release)) is PrivacyLoss


@pytest.mark.parametrize(
    ("release", "message"),
    [
        (0.5, "releases must be mechanisms or privacy losses, got float."),
        (Foreign(0.5), "releases must have a loss() that returns a PrivacyLoss, got float."),
    ],
)
def test_what_has_no_loss_is_refused_by_name(release: Any, message: str) -> None:
    with pytest.raises(ArgumentTypeError) as error:
        loss_of(release)
    assert str(error.value) == message
    assert error.value.argument == "releases"
