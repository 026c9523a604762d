/** Where filters find the rows of issues and merge requests. */
import { awardedName, EMOJI_NAME } from '../../records/award-emoji.ts';
import type { SearchedIn } from '../../store/tracked/list.ts';
import type { PlaceRange } from '../../store/tracked/places.ts';
import { rangesOfReaction } from '../../store/tracked/ranges.ts';

/** Where words are looked for: in the project, else below the top-level group or personal namespace, else everywhere. */
export const searchedIn = (projectId: number | undefined, rootId: number | undefined): SearchedIn =>
  projectId !== undefined
    ? { kind: 'project', id: projectId }
    : rootId !== undefined
      ? { kind: 'root', id: rootId }
      : { kind: 'all' };

/**
 * What a user has given a reaction.
 * @param reaction the name of an emoji, or `any`
 * @returns undefined where it is no name of an emoji
 */
export function reactedTo(
  kind: Parameters<typeof rangesOfReaction>[0],
  userId: number,
  reaction: string,
): PlaceRange[] | undefined {
  if (!EMOJI_NAME.test(reaction)) return undefined;
  return rangesOfReaction(kind, userId, reaction === 'any' ? undefined : awardedName(reaction));
}
