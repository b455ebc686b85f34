"""Scores by networkx and numpy of the graphs that come as JSON on standard input, as JSON on standard output.

In:  [{"pages", "edges": [[source, target]], "damping", "weights": [..]}]
Out: [{"pagerank", "personalized", "hits": [authorities, hubs] or null, "weighted_hits": the same}]

HITS is left out (null) where the two largest eigenvalues are so close that the answer is ambiguous.
"""

import json
import sys

import networkx as nx
import numpy as np


def pagerank(graph, example, weights):
    pages = example["pages"]
    preference = dict(enumerate(weights)) if weights else None
    scores = nx.pagerank(
        graph, alpha=example["damping"], personalization=preference, dangling=preference,
        tol=1e-12 / pages, max_iter=100_000,
    )
    return [scores[page] for page in range(pages)]


def dominant(matrix):
    """The eigenvector of the largest eigenvalue, with sum 1; None if another one is close."""
    values, vectors = np.linalg.eig(matrix)
    order = np.argsort(-np.abs(values))
    largest = abs(values[order[0]])
    if largest < 1e-6 or (len(order) > 1 and abs(values[order[1]]) > 0.97 * largest):
        return None
    vector = np.abs(np.real(vectors[:, order[0]]))
    return vector / vector.sum()


def hits(graph, example, weights):
    pages = example["pages"]
    links = np.zeros((pages, pages))
    for source, target in example["edges"]:
        links[source, target] = 1
    weights = np.array(weights if weights else [1.0] * pages)
    authorities = dominant(links.T @ links @ np.diag(weights))
    if authorities is None:
        return None
    hubs = links @ (weights * authorities)
    if hubs.sum() == 0:
        return None
    return [list(authorities), list(hubs / hubs.sum())]


def hits_of_networkx(graph, example):
    pages = example["pages"]
    # The sparse solver behind it needs some rows.
    if pages < 4 or hits(graph, example, None) is None:
        return None
    hubs, authorities = nx.hits(graph, max_iter=10_000, tol=1e-14)
    return [[authorities[page] for page in range(pages)], [hubs[page] for page in range(pages)]]


def scores(example):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(example["pages"]))
    graph.add_edges_from(example["edges"])
    return {
        "pagerank": pagerank(graph, example, None),
        "personalized": pagerank(graph, example, example["weights"]),
        "hits": hits(graph, example, None),
        "networkx_hits": hits_of_networkx(graph, example),
        "weighted_hits": hits(graph, example, example["weights"]),
    }


json.dump([scores(example) for example in json.load(sys.stdin)], sys.stdout)
