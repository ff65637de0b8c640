"""Make property tests repeatable: the same examples on every run and every machine.

`pytest --hypothesis-profile=default` explores at random instead.
"""

from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("ci")
