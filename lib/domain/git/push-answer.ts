import type { PushOutcome } from '../../git/wire/receive-pack.ts';
import { parsePushOptions } from './push-options.ts';

/** Lines that a push is answered with beside its report, once its refs have moved. */
export async function pushAnswer({ pushOptions }: PushOutcome): Promise<string[]> {
  return [...parsePushOptions(pushOptions).warnings];
}
