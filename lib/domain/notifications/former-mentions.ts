/** Whom a text mentioned that another text replaces: they are told of a mention once. */

import { atOnce, inTurns } from '../../git/work.ts';
import type { FormerMentions } from '../../records/notifications.ts';
import type { StoredText } from '../../records/texts.ts';
import { Missing } from '../../store/errors.ts';
import type { Deps } from '../deps.ts';
import { mentionsIn } from './mentions.ts';

/** @param replaced null: there was no text */
export const formerMentions = (replaced: StoredText | null): FormerMentions =>
  typeof replaced === 'string' ? atOnce(mentionsIn(replaced)) : (replaced ?? []);

/** A text that is no more is taken for one that mentioned nobody: better told twice than never. */
export async function formerNames({ store }: Deps, former: FormerMentions): Promise<readonly string[]> {
  if (!('blob' in former)) return former;
  try {
    return await inTurns(mentionsIn(await store.texts.read(former)));
  } catch (error) {
    if (error instanceof Missing) return [];
    throw error;
  }
}
