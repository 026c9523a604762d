/**
 * Traces of jobs: what they print. A trace grows by pieces that are objects of their own, named by where they begin and
 * how long they are, so that no piece is read to append another. Its row says how much of it counts: what a loser of
 * a race wrote is not part of it.
 */
import { whole } from '../../bytes/whole.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { Missing, Stale, TransactionRefused } from '../errors.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import { jobTraceKey, jobTracesPartition } from '../row-keys/job-traces.ts';
import { padded } from '../row-keys/key.ts';
import { deletePage } from '../table/delete-page.ts';
import type { Table } from '../table/table.ts';
import { ABSENT } from '../table/write.ts';

/** All traces have this prefix in the bucket. */
const TRACES = 'traces/';

/** A job of a project. */
export interface TraceOf {
  readonly projectId: number;
  readonly id: number;
}

export interface TraceState {
  /** Bytes. */
  readonly size: number;
  readonly pieces: number;
  /** How many bytes of secrets have begun at the end. */
  readonly begun: readonly number[];
}

interface Piece {
  readonly key: string;
  readonly start: number;
  readonly end: number;
}

export class JobTraces {
  readonly #table: Table;
  readonly #blobs: Blobs;
  constructor(table: Table, blobs: Blobs) {
    this.#table = table;
    this.#blobs = blobs;
  }

  /** Bytes; 0 where there is none. */
  async size(job: TraceOf): Promise<number> {
    return (await this.state(job)).size;
  }

  async state({ projectId, id }: TraceOf): Promise<TraceState> {
    const row = await this.#table.get(jobTraceKey(projectId, id));
    return {
      size: (row?.['size'] as number | undefined) ?? 0,
      // Of an earlier release: not counted.
      pieces: (row?.['pieces'] as number | undefined) ?? 0,
      begun: (row?.['begun'] as readonly number[] | undefined) ?? [],
    };
  }

  /**
   * Appends bytes.
   * @param before what was read
   * @param piece `begun`: what {@link state} tells of it
   * @throws Stale when others have appended meanwhile; Missing when the project is deleted
   */
  async append(
    job: TraceOf,
    { size: start, pieces }: Pick<TraceState, 'size' | 'pieces'>,
    { bytes, begun }: { readonly bytes: Uint8Array; readonly begun: readonly number[] },
  ): Promise<number> {
    const size = start + bytes.length;
    const key = pieceKey(job, start, bytes.length);
    await this.#blobs.put(key, bytes);
    try {
      await this.#table.transact([
        checkProjectExists(job.projectId),
        {
          put: {
            ...jobTraceKey(job.projectId, job.id),
            ...{ size, pieces: pieces + 1 },
            ...(begun.length === 0 ? {} : { begun }),
          },
          ...(start === 0 ? { if: ABSENT } : { if: '#size = :start', values: { start } }),
          reason: 'size',
        },
      ]);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      if (error.has('size')) throw new Stale('trace');
      await this.#blobs.delete([key]);
      throw new Missing('project');
    }
    return size;
  }

  /** The trace as far as it goes now. */
  async *read(job: TraceOf): AsyncGenerator<Uint8Array> {
    const size = await this.size(job);
    if (size === 0) return;
    for (const { key } of chainOf(await this.#pieces(job), size)) yield await this.#piece(key);
  }

  /** The end of the trace, some `most` bytes: whole pieces. */
  async tail(job: TraceOf, most: number): Promise<Buffer> {
    const size = await this.size(job);
    if (size === 0) return Buffer.alloc(0);
    const last = chainOf(await this.#pieces(job), size).filter(({ end }) => end > size - most);
    const pieces: Uint8Array[] = [];
    for (const { key } of last) pieces.push(await this.#piece(key));
    return Buffer.concat(pieces).subarray(-most);
  }

  async #piece(key: string): Promise<Uint8Array> {
    return whole((await this.#blobs.open(key)).body);
  }

  async #pieces(job: TraceOf): Promise<Piece[]> {
    const prefix = prefixOf(job);
    const found: Piece[] = [];
    for (let after: string | undefined; ; ) {
      const page = await this.#blobs.list(prefix, after === undefined ? {} : { after });
      for (const key of page.keys) {
        const [start = 0, length = 0] = key.slice(prefix.length).split('-').map(Number);
        found.push({ key, start, end: start + length });
      }
      after = page.keys.at(-1);
      if (!page.more || after === undefined) return found;
    }
  }

  /** Deletes the trace of a job. */
  async remove(job: TraceOf): Promise<void> {
    await this.#table.delete({ delete: jobTraceKey(job.projectId, job.id) });
    const pieces = await this.#pieces(job);
    if (pieces.length > 0) await this.#blobs.delete(pieces.map(({ key }) => key));
  }

  /** Deletes a page of the traces of a deleted project. @returns whether any are left */
  async removeOfProject(projectId: number): Promise<boolean> {
    const rowsLeft = await deletePage(this.#table, { partition: jobTracesPartition(projectId), limit: 500 });
    const { keys, more } = await this.#blobs.list(projectPrefix(projectId));
    if (keys.length > 0) await this.#blobs.delete(keys);
    return rowsLeft || more;
  }
}

/** The pieces that follow each other up to the size: of those that begin at one place, the one where others go on. */
function chainOf(pieces: readonly Piece[], size: number): Piece[] {
  const byEnd = Map.groupBy(
    pieces.filter(({ end }) => end <= size),
    ({ end }) => end,
  );
  const chain: Piece[] = [];
  for (let end = size; end > 0; ) {
    // Two pieces with one end: the row grew to where the shorter one begins, or that one was never written.
    const piece = byEnd
      .get(end)
      ?.toSorted((a, b) => b.start - a.start)
      .find(({ start }) => start === 0 || byEnd.has(start));
    if (piece === undefined) return [];
    chain.push(piece);
    end = piece.start;
  }
  return chain.reverse();
}

const projectPrefix = (projectId: number): string => `${TRACES}project/${padded(projectId)}/`;
const prefixOf = ({ projectId, id }: TraceOf): string => `${projectPrefix(projectId)}${padded(id)}/`;
const pieceKey = (job: TraceOf, start: number, length: number): string =>
  `${prefixOf(job)}${padded(start)}-${padded(length)}`;
