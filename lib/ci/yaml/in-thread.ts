/** Reads and writes long configurations in a thread, as the library does all of a text at once. */
import { inTurns } from '../../git/work.ts';
import { TaskThread } from '../../threads/task-thread.ts';
import { ConfigError } from '../errors.ts';
import { fromPieces, piecesOf } from './pieces.ts';
import type { Hash } from './values.ts';

export type YamlTask = { readonly parse: string } | { readonly write: readonly Uint8Array[] };
export type YamlResult =
  | { readonly parsed: readonly Uint8Array[] }
  | { readonly written: string }
  | { readonly messages: readonly string[] };

/** Milliseconds for one file; one of the largest size takes less than a second. */
const MAX_TIME = 8000;
/** Megabytes of the thread. */
const MAX_HEAP = 256;

/** Beside the source, and beside the bundle that `cdk/bundle.ts` makes of it. */
const CODE = new URL(
  import.meta.url.endsWith('.ts') ? './yaml-thread.ts' : './yaml-thread.mjs',
  import.meta.url,
);
const thread = new TaskThread<YamlTask, YamlResult>(CODE, { maxTime: MAX_TIME, maxHeap: MAX_HEAP });

/** @throws ConfigError, also for a text that takes too long; ThreadBusy */
export async function parseInThread(text: string): Promise<Hash> {
  const result = (await done({ parse: text })) as Extract<YamlResult, { parsed: unknown }>;
  return (await inTurns(fromPieces(result.parsed))) as Hash;
}

/** @throws ConfigError, also for a value that takes too long; ThreadBusy */
export async function writeInThread(value: Hash): Promise<string> {
  const result = await done({ write: await inTurns(piecesOf(value)) });
  return (result as Extract<YamlResult, { written: unknown }>).written;
}

async function done(task: YamlTask): Promise<YamlResult> {
  const result = await thread.run(task);
  if (result === undefined) throw new ConfigError('The configuration takes too long to read');
  if ('messages' in result) throw new ConfigError(...result.messages);
  return result;
}
