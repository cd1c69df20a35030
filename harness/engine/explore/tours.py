"""Plan tours: paths through a graph that start at node 0 and together cover every wanted edge that can be reached.

The plan is greedy. A tour goes to the nearest node with a wanted edge that no tour covers yet. From there the tour
follows uncovered wanted edges as long as possible. If another uncovered wanted edge is at most _NEAR steps away, the
tour continues there. So a wanted edge costs four to six steps, and the first tours are the shortest.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from epochfuzz.harness.engine.runtime.compilation import compiled, kernel

_NEAR = 8  # a tour ends if the next wanted edge is farther away; a new tour from node 0 is seldom longer
_LONGEST = 200  # a tour ends this many steps after its first wanted edge, because a failed step loses the rest of it
_ROOM = 1 << 20  # steps that one call plans

Numbers = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Edges:
    """The edges of a graph, as arrays of source and target nodes, sorted by source. `nodes` is the number of nodes."""

    nodes: int
    sources: Numbers
    targets: Numbers

    def offsets(self) -> npt.NDArray[np.int64]:
        """Return the position of the first edge of each node, and the number of edges as the last element."""
        return np.searchsorted(self.sources, np.arange(self.nodes + 1)).astype(np.int64)


class Reach:
    """The nodes that can be reached from node 0 along usable edges. `via` has an edge that leads to each node."""

    def __init__(self, edges: Edges, usable: Flags) -> None:
        self.edges, self.usable, self.offsets = edges, usable, edges.offsets()
        self.via = np.full(edges.nodes, -1, np.int32)
        order = np.empty(edges.nodes, np.int32)
        count = compiled(reach)(self.offsets, edges.targets, usable, self.via, order)
        self.order = order[:count]

    def reached(self) -> Flags:
        """Return a flag for each edge: True if the edge is usable and its source can be reached."""
        nodes = np.zeros(self.edges.nodes, bool)
        nodes[self.order] = True
        reached: Flags = nodes[self.edges.sources] & self.usable
        return reached

    def tours(self, wanted: Flags) -> Iterator[Numbers]:
        """Yield tours (paths from node 0) that together cover all wanted edges that can be reached.

        A tour is an array of edge numbers. `wanted` has a flag for each edge.
        """
        wanted = wanted & self.reached()
        waiting = np.bincount(self.edges.sources, wanted, self.edges.nodes).astype(np.int32)
        nodes = self.edges.nodes
        memory = (np.zeros(nodes, np.int64), *(np.empty(nodes, np.int32) for _ in range(3)))
        progress = np.zeros(2, np.int64)
        room = _ROOM + _LONGEST + nodes + _NEAR  # room for the last tour, which may begin just before _ROOM steps
        steps, ends = np.empty(room, np.int32), np.empty(_ROOM + 1, np.int64)
        graph = (self.offsets, self.edges.sources, self.edges.targets, self.usable, self.via, self.order)
        while count := compiled(plan)(graph, wanted, waiting, memory, progress, _ROOM, _NEAR, _LONGEST, steps, ends):
            first = 0
            for last in ends[:count].tolist():
                yield steps[first:last].copy()
                first = last


@kernel
def reach(offsets, targets, usable, via, order):  # type: ignore[no-untyped-def]
    """Find the nodes that can be reached from node 0 along usable edges. Returns the number of these nodes.

    Writes the nodes to `order`, the nearest first. Writes to `via` an edge that leads to each node, except for node 0.
    """
    seen = np.zeros(via.shape[0], np.uint8)
    order[0] = 0
    seen[0] = 1
    first, count = 0, 1
    while first < count:
        node = order[first]
        first += 1
        for edge in range(offsets[node], offsets[node + 1]):
            target = targets[edge]
            if usable[edge] and seen[target] == 0:
                seen[target] = 1
                via[target] = edge
                order[count] = target
                count += 1
    return count


def way_back(node, start, via, sources, way):  # type: ignore[no-untyped-def]
    """Find the path from `start` to `node`. For each node, `via` holds the edge that leads to the node.

    Writes the edges of the path to `way`, the last edge first. Returns the number of edges.
    """
    length = 0
    while node != start:
        way[length] = via[node]
        node = sources[via[node]]
        length += 1
    return length


def wanted_edge(node, graph, wanted, waiting):  # type: ignore[no-untyped-def]
    """Return a wanted edge that starts at a node. The node must have such an edge.

    An edge back to the node itself is preferred, then an edge to a node that has wanted edges of its own.
    """
    offsets, targets = graph[0], graph[2]
    best, best_score = 0, -1
    for edge in range(offsets[node], offsets[node + 1]):
        if wanted[edge]:
            score = 2 if targets[edge] == node else 1 if waiting[targets[edge]] > 0 else 0
            if score > best_score:
                best, best_score = edge, score
    return best


def way_on(start, graph, waiting, memory, clock, near, way):  # type: ignore[no-untyped-def]
    """Find the path from `start` to the nearest node with a wanted edge.

    Writes the edges of the path to `way`, the last edge first. Returns the number of edges; 0 if all nodes with wanted
    edges are more than `near` steps away. `memory` holds three arrays by node (the clock when the node was last seen,
    the edge that led to it, its distance) and room for a queue.
    """
    offsets, sources, targets, usable, _, _ = graph
    # A clock instead of flags: a node has been seen if its entry equals the clock. So no call clears the array.
    seen, back, distance, queue = memory
    queue[0], distance[start], seen[start] = start, 0, clock
    first, count = 0, 1
    while first < count:
        node = queue[first]
        first += 1
        if distance[node] == near:
            return 0
        for edge in range(offsets[node], offsets[node + 1]):
            target = targets[edge]
            if usable[edge] and seen[target] != clock:
                seen[target], back[target], distance[target] = clock, edge, distance[node] + 1
                if waiting[target] > 0:
                    return way_back(target, start, back, sources, way)
                queue[count] = target
                count += 1
    return 0


@kernel
def plan(graph, wanted, waiting, memory, progress, room, near, longest, steps, ends):  # type: ignore[no-untyped-def]
    """Plan tours: paths from node 0 that cover wanted edges. Returns the number of tours.

    The function stops when all tours together have `room` steps, or when no wanted edge is left. It writes the edges of
    all tours to `steps`, and the end of each tour in `steps` to `ends`. `waiting` holds the number of wanted edges of
    each node. `progress` holds two numbers: the number of nodes at the start of the order of `reach` that have no
    wanted edges left, and a clock.
    """
    sources, targets, via, order = graph[1], graph[2], graph[4], graph[5]
    way = np.empty(via.shape[0] + 1, np.int32)
    tours = position = 0
    while position < room:
        while progress[0] < order.shape[0] and waiting[order[progress[0]]] == 0:
            progress[0] += 1
        if progress[0] == order.shape[0]:
            break
        node = 0
        left = way_back(order[progress[0]], 0, via, sources, way)
        arrived = position + left
        while True:
            while left > 0:
                left -= 1
                edge = way[left]
                if wanted[edge]:
                    waiting[node] -= 1
                    wanted[edge] = False
                steps[position] = edge
                position += 1
                node = targets[edge]
            if position >= arrived + longest:
                break
            if waiting[node] > 0:
                way[0] = wanted_edge(node, graph, wanted, waiting)
                left = 1
            else:
                progress[1] += 1
                left = way_on(node, graph, waiting, memory, progress[1], near, way)
            if left == 0:
                break
        ends[tours] = position
        tours += 1
    return tours
