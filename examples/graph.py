"""A private look at a graph: its connectivity and a degree, in one joint release."""

import networkx as nx

import inbounds as ib
from inbounds import queries

club = nx.karate_club_graph()  # Zachary's karate club, 34 members
question = queries.stack(
    [
        queries.graph.algebraic_connectivity(club, edges=1),
        queries.graph.degree(club, node=0, edges=1),
    ]
)
m = ib.BoundedGaussian.calibrated(question.box, question.sensitivity, epsilon=3.0)
output = m.release(question.value)
low, high = m.confidence(output, 0.95)  # for each coordinate separately
denoised = m.denoise(output)

print(question)
for name, private, best, *ends in zip(question.name, output, denoised, low, high, strict=True):
    error = f"95 % confidence {ends[0]:.1f} to {ends[1]:.1f}"
    print(f"{name:25} private {private:5.1f}   denoised {best:5.1f}   {error}")
