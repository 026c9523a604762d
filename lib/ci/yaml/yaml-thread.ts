/** What the thread of `in-thread.ts` runs. */
import { atOnce } from '../../git/work.ts';
import { serveTasks } from '../../threads/serve-tasks.ts';
import { ConfigError } from '../errors.ts';
import type { YamlResult, YamlTask } from './in-thread.ts';
import { parseHere, writeHere } from './parse.ts';
import { fromPieces, piecesOf } from './pieces.ts';
import type { Hash } from './values.ts';

serveTasks(async (task: YamlTask): Promise<YamlResult> => {
  try {
    if ('write' in task) return { written: await writeHere(atOnce(fromPieces(task.write)) as Hash) };
    return { parsed: atOnce(piecesOf(await parseHere(task.parse))) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { messages: error.messages };
  }
});
