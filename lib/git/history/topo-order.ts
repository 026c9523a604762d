import type { CommitNode } from './commit-node.ts';

/**
 * Sorts commits so that no parent comes before one of its children, and lines of history are not mixed
 * (`git log --topo-order`).
 *
 * @param commits newest first; decides the order where several commits could be next
 */
export function topoOrder(
  commits: readonly CommitNode[],
  parentsOf: (node: CommitNode) => readonly CommitNode[],
): CommitNode[] {
  const children = new Map<CommitNode, number>(commits.map((node) => [node, 0]));
  for (const node of commits) {
    for (const parent of parentsOf(node)) {
      const count = children.get(parent);
      if (count !== undefined) children.set(parent, count + 1);
    }
  }
  const ready = commits.filter((node) => children.get(node) === 0).reverse();
  const ordered: CommitNode[] = [];
  for (let node = ready.pop(); node !== undefined; node = ready.pop()) {
    ordered.push(node);
    for (const parent of parentsOf(node)) {
      const count = children.get(parent);
      if (count === undefined) continue;
      children.set(parent, count - 1);
      if (count === 1) ready.push(parent);
    }
  }
  return ordered;
}
