/** The commit-graph file, as gitformat-commit-graph describes it: numbers in network byte order, SHA-1 names. */

export const SIGNATURE = 0x43475048;
/** Version 1, SHA-1; the number of chunks and of base graphs follow. */
export const VERSION = 1;
export const HASH_VERSION = 1;
export const HEADER = 8;
/** Row of the table of chunks: id and offset. */
export const TOC_ROW = 12;
export const TRAILER = 20;

const id = (name: string): number => Buffer.from(name, 'latin1').readUInt32BE(0);

export const FANOUT = id('OIDF');
export const NAMES = id('OIDL');
export const COMMITS = id('CDAT');
export const GENERATIONS = id('GDA2');
export const GENERATION_OVERFLOW = id('GDO2');
export const EDGES = id('EDGE');
export const BLOOM_INDEX = id('BIDX');
export const BLOOM_DATA = id('BDAT');

/** Root tree, two parents, topological level and date. */
export const COMMIT_ROW = 36;
export const NO_PARENT = 0x70000000;
/** In a second parent: the others are in the edge list. In an edge: it is the last. In a generation: overflow. */
export const TOP_BIT = 0x80000000;
export const MAX_LEVEL = 0x3fffffff;
/** Dates have 34 bits. */
export const DATE_LIMIT = 2 ** 34;
/** Hash version, hashes of each path, bits of each path. */
export const BLOOM_HEADER = 12;
