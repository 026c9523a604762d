import { asBuffer } from '../../bytes/as-buffer.ts';
import { CorruptData } from '../corrupt-data.ts';
import { type Oid, oidBytes } from '../oid.ts';
import { BLOCK_SIZE, type CachedFile } from '../pack/block-cache.ts';
import { compareNames, readUint32 } from '../pack/object-names.ts';
import { BITS_PER_PATH, HASH_VERSION as BLOOM_VERSION, HASHES } from './bloom.ts';
import * as format from './format.ts';

/** A commit in the graph. */
export interface GraphedCommit {
  readonly tree: Oid;
  /** Committer's time, seconds since 1970. */
  readonly date: number;
  /** Corrected commit date: above that of every ancestor (git's technical notes on commit-graph). */
  readonly generation: number;
  /** Positions of all parents: a graph contains the parents of its commits. */
  readonly parents: readonly number[];
}

/** A range of the file, `end` exclusive. */
interface Chunk {
  readonly start: number;
  readonly end: number;
}

/** Of four bytes: those of a commit's row, and where in it the first parent and the date are. */
const WORDS_OF_COMMIT = format.COMMIT_ROW / 4;
const FIRST_PARENT = 5;
const DATE = 7;

/** A commit-graph read through the block cache. Methods throw BlockMiss, and CorruptData when it is malformed. */
export class CommitGraphFile {
  readonly count: number;
  readonly #file: CachedFile;
  readonly #fanout: Chunk;
  readonly #names: Chunk;
  readonly #commits: Chunk;
  readonly #generations: Chunk;
  readonly #overflow: Chunk | undefined;
  readonly #edges: Chunk | undefined;
  readonly #bloomIndex: Chunk | undefined;
  readonly #bloomData: Chunk | undefined;
  #loaded = -1;

  /** Reads the table of chunks. */
  constructor(file: CachedFile) {
    this.#file = file;
    const chunks = readChunks(file);
    const chunk = (id: number, size?: number): Chunk | undefined => {
      const found = chunks.get(id);
      if (found && size !== undefined && found.end - found.start !== size) throw malformed('size of a chunk');
      return found;
    };
    const required = (id: number, size?: number): Chunk => {
      const found = chunk(id, size);
      if (found === undefined) throw malformed('a chunk is missing');
      return found;
    };
    this.#fanout = required(format.FANOUT, 1024);
    this.#names = required(format.NAMES);
    this.count = (this.#names.end - this.#names.start) / 20;
    this.#commits = required(format.COMMITS, format.COMMIT_ROW * this.count);
    this.#generations = required(format.GENERATIONS, 4 * this.count);
    this.#overflow = chunk(format.GENERATION_OVERFLOW);
    this.#edges = chunk(format.EDGES);
    this.#bloomIndex = chunk(format.BLOOM_INDEX, 4 * this.count);
    this.#bloomData = this.#bloomIndex && this.#filters(chunk(format.BLOOM_DATA));
  }

  /** At the first call, throws one BlockMiss for all missing blocks of the file, because walks need all of it. */
  load(): void {
    const { blocks } = this.#file;
    if (this.#loaded === blocks.length) return;
    this.#file.want(0, blocks.length - 1);
    this.#loaded = blocks.length;
  }

  /** @returns its position, or -1 */
  find(oid: Oid): number {
    const name = oidBytes(oid);
    const first = name[0]!;
    let low = first === 0 ? 0 : this.#number(this.#fanout, first - 1);
    let high = this.#number(this.#fanout, first);
    if (low > high || high > this.count) throw malformed('fanout');
    const start = low;
    const names = this.#file.slice(this.#names.start + 20 * low, this.#names.start + 20 * high);
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = compareNames(names, 20 * (middle - start), name, 0);
      if (order === 0) return middle;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return -1;
  }

  oid(position: number): Oid {
    return hex(this.nameBytes(position));
  }

  /** The 20 bytes of the id at this position. */
  nameBytes(position: number): Uint8Array {
    this.#check(position);
    const at = this.#names.start + 20 * position;
    return this.#file.slice(at, at + 20);
  }

  commit(position: number): GraphedCommit {
    this.#check(position);
    const at = this.#commits.start + format.COMMIT_ROW * position;
    const row = this.#file.slice(at, at + format.COMMIT_ROW);
    const date = (readUint32(row, 28) & 3) * 2 ** 32 + readUint32(row, 32);
    return {
      tree: hex(row),
      date,
      generation: date + this.#offset(position),
      parents: this.#parents(readUint32(row, 20), readUint32(row, 24)),
    };
  }

  /** The position of a commit's first parent, or -1. */
  firstParent(position: number): number {
    const first = this.#number(this.#commits, WORDS_OF_COMMIT * position + FIRST_PARENT);
    return first === format.NO_PARENT ? -1 : first;
  }

  date(position: number): number {
    const at = WORDS_OF_COMMIT * position + DATE;
    return (this.#number(this.#commits, at) & 3) * 2 ** 32 + this.#number(this.#commits, at + 1);
  }

  /** The changed-path filter of a commit; empty when it has none. */
  filter(position: number): Uint8Array {
    this.#check(position);
    const [index, data] = [this.#bloomIndex, this.#bloomData];
    if (index === undefined || data === undefined) return NO_FILTER;
    const from = position === 0 ? 0 : this.#number(index, position - 1);
    const to = this.#number(index, position);
    if (from > to || data.start + to > data.end) throw malformed('place of a filter');
    return this.#file.slice(data.start + from, data.start + to);
  }

  #parents(first: number, second: number): number[] {
    if (first === format.NO_PARENT) return [];
    if (second === format.NO_PARENT) return [first];
    if (second < format.TOP_BIT) return [first, second];
    const edges = this.#edges;
    if (edges === undefined) throw malformed('edges');
    const parents = [first];
    for (let i = second - format.TOP_BIT; ; i++) {
      const edge = this.#number(edges, i);
      parents.push(edge & 0x7fffffff);
      if (edge >= format.TOP_BIT) return parents;
    }
  }

  #offset(position: number): number {
    const offset = this.#number(this.#generations, position);
    if (offset < format.TOP_BIT) return offset;
    if (this.#overflow === undefined) throw malformed('generation');
    const at = 2 * (offset - format.TOP_BIT);
    return this.#number(this.#overflow, at) * 2 ** 32 + this.#number(this.#overflow, at + 1);
  }

  /** The chunk without its header; undefined for filters with other parameters. */
  #filters(chunk: Chunk | undefined): Chunk | undefined {
    if (chunk === undefined) return undefined;
    const [version, hashes, bits] = [0, 1, 2].map((i) => this.#number(chunk, i));
    if (version !== BLOOM_VERSION || hashes !== HASHES || bits !== BITS_PER_PATH) return undefined;
    return { start: chunk.start + format.BLOOM_HEADER, end: chunk.end };
  }

  #number({ start, end }: Chunk, index: number): number {
    const at = start + 4 * index;
    if (at + 4 > end) throw malformed('past the end of a chunk');
    const block = Math.floor(at / BLOCK_SIZE);
    const within = at - block * BLOCK_SIZE;
    // A view of the block, without a copy: this is called several times per commit.
    if (within + 4 <= BLOCK_SIZE) return readUint32(this.#file.block(block), within);
    return readUint32(this.#file.slice(at, at + 4), 0);
  }

  #check(position: number): void {
    if (!(position >= 0 && position < this.count)) throw malformed('position');
  }
}

/** The id in the first 20 bytes; several times faster than byte by byte, for hundreds of thousands of commits. */
function hex(bytes: Uint8Array): Oid {
  return asBuffer(bytes).toString('hex', 0, 20) as Oid;
}

const NO_FILTER = new Uint8Array(0);

function readChunks(file: CachedFile): Map<number, Chunk> {
  if (file.size < format.HEADER + format.TOC_ROW + format.TRAILER) throw malformed('it is too short');
  const head = file.block(0);
  const number = readUint32(head, 4);
  const bases = number & 0xff;
  if (readUint32(head, 0) !== format.SIGNATURE || number >>> 24 !== format.VERSION || bases !== 0)
    throw malformed('signature');
  if (((number >>> 16) & 0xff) !== format.HASH_VERSION) throw malformed('kind of names');
  const count = (number >>> 8) & 0xff;
  const toc = file.slice(format.HEADER, format.HEADER + format.TOC_ROW * (count + 1));
  const offset = (i: number) => {
    const at = format.TOC_ROW * i + 4;
    return readUint32(toc, at) * 2 ** 32 + readUint32(toc, at + 4);
  };
  const chunks = new Map<number, Chunk>();
  for (let i = 0; i < count; i++) {
    const [start, end] = [offset(i), offset(i + 1)];
    if (start < format.HEADER || start > end || end > file.size - format.TRAILER) throw malformed('chunks');
    chunks.set(readUint32(toc, format.TOC_ROW * i), { start, end });
  }
  return chunks;
}

function malformed(what: string): CorruptData {
  return new CorruptData('derived-file', `commit-graph: ${what}`);
}
