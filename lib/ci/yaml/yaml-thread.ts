/** What the thread of `in-thread.ts` runs. */
import { serveTasks } from '../../threads/serve-tasks.ts';
import { ConfigError } from '../errors.ts';
import type { YamlResult, YamlTask } from './in-thread.ts';
import { parseHere, writeHere } from './parse.ts';

serveTasks(async (task: YamlTask): Promise<YamlResult> => {
  try {
    return { result: 'parse' in task ? await parseHere(task.parse) : await writeHere(task.write) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { messages: error.messages };
  }
});
