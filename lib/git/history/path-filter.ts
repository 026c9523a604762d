import { type BloomKey, pathKeys } from '../commit-graph/bloom.ts';
import type { SyncObjects } from '../objects.ts';
import type { Oid } from '../oid.ts';
import { DIRECTORY, findName, readTreeBytes } from '../tree/entry.ts';
import type { RawPath } from '../tree/path.ts';
import { type NameBit, nameBit } from './changed-names.ts';
import type { CommitNode } from './commit-node.ts';
import type { CommitGraph, Passed } from './graph.ts';

/** How a commit relates to its parents at a path, after "history simplification" in git-rev-list. */
export interface Simplified {
  /** The parents to follow: the one that has the same content at the path, else all. */
  readonly follow: readonly CommitNode[];
  /** The commit did not change the path, so it is not shown. */
  readonly same: boolean;
}

/**
 * Git's default history simplification for one path: a commit is shown if it differs at the path from every parent
 * that counts, and of a merge that is the same as one parent, only that parent is followed.
 */
export class PathFilter {
  readonly #graph: CommitGraph;
  readonly #names: readonly RawPath[];
  readonly #top: NameBit;
  readonly #keys: readonly BloomKey[];
  /** Per level of the path: tree → mode and id at the rest of the path. */
  readonly #found: Map<Oid, string>[];

  constructor(graph: CommitGraph, path: RawPath) {
    this.#graph = graph;
    this.#names = path.split('/') as RawPath[];
    this.#top = nameBit(this.#names[0]!);
    this.#keys = pathKeys(path);
    this.#found = this.#names.map(() => new Map());
  }

  /** See {@link CommitGraph.pass}: the parent that {@link simplify} follows from such a commit is its first. */
  pass(node: CommitNode, goesOn?: (date: number, child: number) => boolean): Passed | undefined {
    return this.#graph.pass(node, this.#keys, goesOn);
  }

  /** @param counts whether a parent counts; excluded ones do not if there are others. */
  simplify(
    objects: SyncObjects,
    node: CommitNode,
    firstParent: boolean,
    counts: (parent: CommitNode) => boolean,
  ): Simplified {
    const parents = this.#graph.parents(objects, node);
    if (parents.length === 0) return { follow: parents, same: !this.#isIn(objects, node) };
    // Git counts a second parent even if it then compares the first parent only.
    let counted = firstParent && parents[1] && counts(parents[1]) ? 1 : 0;
    let countedDiffers = false;
    let otherDiffers = false;
    for (const [number, parent] of (firstParent ? parents.slice(0, 1) : parents).entries()) {
      const decides = counts(parent);
      if (decides) counted++;
      const differs =
        (number > 0 || this.#graph.mayChange(node, this.#keys)) &&
        this.#graph.changedNames.mayDiffer(objects, node, number, parent, this.#top) &&
        this.#at(objects, parent.tree) !== this.#at(objects, node.tree);
      if (!differs && decides) return { follow: [parent], same: true };
      if (differs && decides) countedDiffers = true;
      else if (differs) otherDiffers = true;
    }
    return { follow: parents, same: counted > 0 ? !countedDiffers : !otherDiffers };
  }

  /** Whether the path exists in a commit without parents. */
  #isIn(objects: SyncObjects, root: CommitNode): boolean {
    return this.#graph.mayChange(root, this.#keys) && this.#at(objects, root.tree) !== '';
  }

  /** Mode and id at the path; '' when it does not exist. */
  #at(objects: SyncObjects, root: Oid): string {
    const trail: Oid[] = [];
    let tree = root;
    let answer = '';
    for (let level = 0; ; level++) {
      const known = this.#found[level]!.get(tree);
      if (known !== undefined) {
        answer = known;
        break;
      }
      trail.push(tree);
      const entry = findName(readTreeBytes(objects, tree), this.#names[level]!);
      const last = level === this.#names.length - 1;
      if (last && entry) answer = `${entry.mode} ${entry.oid}`;
      if (last || entry?.mode !== DIRECTORY) break;
      tree = entry.oid;
    }
    for (const [level, id] of trail.entries()) this.#found[level]!.set(id, answer);
    return answer;
  }
}
