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
answer = m.release(question.value)
low, high = m.interval(answer, 0.95)  # of another answer, were this one the truth
better = m.denoise(answer)

print(question)
for name, private, best, *ends in zip(question.name, answer, better, low, high, strict=True):
    error = f"noise reaches [{ends[0]:.1f}, {ends[1]:.1f}] in 95 %"
    print(f"{name:25} private {private:5.1f}   denoised {best:5.1f}   {error}")
