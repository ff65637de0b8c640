"""Queries: the true answer to a question, its range, and what a neighbour may change.

>>> import numpy as np
>>> from inbounds import queries
>>> triangle = np.ones((3, 3))
>>> queries.graph.degree(triangle, node=0, edges=1)
Query('degree of node 0', Box(0, 2), PerCoordinate(1), Unit('add-remove', 'edge'))
"""

from inbounds.queries import graph
from inbounds.queries.query import Query, stack

__all__ = ["Query", "graph", "stack"]
