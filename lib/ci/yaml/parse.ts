/** Reads a configuration file: YAML as Ruby reads it (version 1.1), with the tag `!reference`. */
import { inTurns, Pace } from '../../git/work.ts';
import { ConfigError } from '../errors.ts';
import {
  type Hash,
  hashOf,
  isHash,
  isReference,
  OF_FILE,
  pathOf,
  type Reference,
  referenceTo,
  requireBounded,
} from './values.ts';

/** Bytes of one file. */
export const MAX_FILE_BYTES = 1 << 20;
const TRUE = /^(?:yes|true|on)$/i;
const FALSE = /^(?:no|false|off)$/i;
const MAX_DEPTH = 100;
const MAX_ALIASES = 10_000;

/** Characters of a file that is parsed in this thread: a few milliseconds of work. Most are shorter. */
const MAX_HERE = 16 * 1024;
/** The same of a job that is written, as `requireBounded` measures it. */
const MAX_WRITTEN_HERE = 2000;

/**
 * Parses one file, a long one in another thread. Of several documents the first counts; a file of comments is an empty hash.
 * @throws ConfigError for text that is too long, is no YAML, or is no hash
 */
export async function parseYaml(text: string): Promise<Hash> {
  if (Buffer.byteLength(text) > MAX_FILE_BYTES)
    throw new ConfigError(`The configuration file is larger than ${MAX_FILE_BYTES} bytes`);
  if (text.length <= MAX_HERE) return parseHere(text);
  const { parseInThread } = await import('./in-thread.ts');
  return parseInThread(text);
}

/** The same in this thread. */
export async function parseHere(text: string): Promise<Hash> {
  // Loaded on demand: of the functions that carry this, few requests read a configuration.
  const yaml = await import('js-yaml');
  const reference = yaml.defineSequenceTag<unknown[], Reference>('!reference', {
    create: () => [],
    addItem: (path, item) => {
      path.push(item);
    },
    finalize: referenceTo,
    identify: isReference,
    represent: (value: Reference) => [...pathOf(value)],
  });
  // A date stays text, as a variable's value is.
  const timestamp = yaml.defineScalarTag('tag:yaml.org,2002:timestamp', {
    resolve: (source) => source,
    identify: () => false,
  });
  // `y` and `n` are text in Ruby.
  const bool = yaml.defineScalarTag('tag:yaml.org,2002:bool', {
    implicit: true,
    resolve: (source) => (TRUE.test(source) ? true : FALSE.test(source) ? false : yaml.NOT_RESOLVED),
    identify: (value) => typeof value === 'boolean',
  });
  // A number that would lose digits stays text.
  const int = yaml.defineScalarTag('tag:yaml.org,2002:int', {
    implicit: true,
    resolve: (source, isExplicit, tagName) => {
      const number = yaml.intYaml11Tag.resolve(source, isExplicit, tagName);
      return typeof number === 'number' && !Number.isSafeInteger(number) ? source : number;
    },
    identify: (value) => Number.isInteger(value),
  });
  // Bytes are text in Ruby, and a set is a hash without values.
  const binary = yaml.defineScalarTag('tag:yaml.org,2002:binary', {
    resolve: (source, isExplicit, tagName) => {
      const bytes = yaml.binaryTag.resolve(source, isExplicit, tagName);
      return bytes instanceof Uint8Array ? Buffer.from(bytes).toString() : bytes;
    },
    identify: () => false,
  });
  const set = { ...yaml.mapTag, tagName: 'tag:yaml.org,2002:set', identify: () => false };
  let value: unknown;
  try {
    const schema = yaml.YAML11_SCHEMA.withTags(reference, timestamp, bool, int, binary, set);
    // As in Ruby, the last of two equal keys wins.
    const limits = { maxDepth: MAX_DEPTH, maxAliases: MAX_ALIASES, maxTotalMergeKeys: 10_000, json: true };
    [value] = yaml.loadAll(text, { schema, ...limits });
  } catch (error) {
    if (!(error instanceof yaml.YAMLException)) throw error;
    const { reason, mark } = error;
    const place = mark === undefined ? '' : ` at line ${mark.line + 1} column ${mark.column + 1}`;
    throw new ConfigError(`(<unknown>): ${reason}${place}`);
  }
  if (value === null || value === undefined) return {};
  if (!isHash(value)) throw new ConfigError('Invalid configuration format');
  await inTurns(requireBounded(value, OF_FILE));
  return value;
}

/**
 * Writes a configuration as YAML, each value out in full; a large job in another thread.
 * @throws ConfigError for a job that is larger than a file may be
 */
export async function writeYaml(value: Hash): Promise<string> {
  const pace = new Pace();
  const written = ['---\n'];
  for (const entry of Object.entries(value)) {
    const one = hashOf([entry]);
    if ((await inTurns(requireBounded(one, OF_FILE))) <= MAX_WRITTEN_HERE) written.push(await writeHere(one));
    else written.push(await (await import('./in-thread.ts')).writeInThread(one));
    if (pace.due()) await pace.rest();
  }
  return written.length === 1 ? '---\n{}\n' : written.join('');
}

/** The same in this thread, without the line that begins a document. */
export async function writeHere(value: Hash): Promise<string> {
  const { dump } = await import('js-yaml');
  return dump(value, { noRefs: true, lineWidth: -1 });
}
