import type { Oid } from '../oid.ts';

/** A commit as used by walks: without text, and with links to its parents once they are read. */
export interface CommitNode {
  /** Dense from 0 within one graph: walks keep their marks in arrays. */
  readonly index: number;
  readonly oid: Oid;
  readonly tree: Oid;
  /** Committer's time, seconds since 1970. */
  readonly date: number;
  readonly parentIds: readonly Oid[];
  /** Set by {@link CommitGraph.parents}. */
  parents: readonly CommitNode[] | undefined;
  /**
   * Corrected commit date: above that of every ancestor. Infinity for a commit that is not in the commit-graph file;
   * NaN before it was looked up. Read it with {@link CommitGraph.generation}.
   */
  generation: number;
  /** In the commit-graph file. */
  position: number;
  /** The parents' positions, for a commit that was read from the file. */
  readonly places: readonly number[] | undefined;
}
