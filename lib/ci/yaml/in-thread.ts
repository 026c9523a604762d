/** Reads and writes long configurations in a thread, as the library does all of a text at once. */
import { TaskThread } from '../../threads/task-thread.ts';
import { ConfigError } from '../errors.ts';
import type { Hash } from './values.ts';

export type YamlTask = { readonly parse: string } | { readonly write: Hash };
export type YamlResult = { readonly result: Hash | string } | { readonly messages: readonly string[] };

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

/** @throws ConfigError, also for a task that takes too long; ThreadBusy */
export async function inThread(task: YamlTask): Promise<Hash | string> {
  const done = await thread.run(task);
  if (done === undefined) throw new ConfigError('The configuration takes too long to read');
  if ('messages' in done) throw new ConfigError(...done.messages);
  return done.result;
}
