/** Conditions on records that lists of issues and of merge requests have in common. */

import type { MilestoneRecord } from '../../records/milestones.ts';
import type { TrackedRecord } from '../../records/tracked.ts';
import { dayOf } from '../days.ts';
import type { Deps } from '../deps.ts';
import { isExpired } from '../milestones/milestones.ts';

/** One of many, none of them, or any. */
export type Choice<T> = T | 'none' | 'any';

export type MilestoneChoice =
  | { readonly title: string }
  | { readonly id: number }
  | { readonly when: 'upcoming' | 'started' };

export const chosen = <T>(wanted: Choice<T>, value: T | null): boolean =>
  wanted === 'none' ? value === null : wanted === 'any' ? value !== null : value === wanted;

export const hasAll = <T>(wanted: Choice<readonly T[]>, values: readonly T[]): boolean =>
  wanted === 'none'
    ? values.length === 0
    : wanted === 'any'
      ? values.length > 0
      : wanted.every((one) => values.includes(one));

/** People among whom the caller is too, as a list of the caller's own asks for. @returns undefined where nothing has both */
export const withMe = (
  wanted: Choice<readonly number[]> | undefined,
  me: number,
): readonly number[] | undefined =>
  wanted === 'none' ? undefined : [...new Set([me, ...(typeof wanted === 'object' ? wanted : [])])];

/** @param milestone that a record has */
export function isPlannedFor(
  wanted: Choice<MilestoneChoice>,
  milestone: MilestoneRecord | undefined,
  now: Date,
): boolean {
  if (wanted === 'none') return milestone === undefined;
  if (milestone === undefined) return false;
  if (wanted === 'any') return true;
  if ('title' in wanted) return milestone.title === wanted.title;
  if ('id' in wanted) return milestone.id === wanted.id;
  const { startDate, dueDate } = milestone;
  const today = dayOf(now);
  if (milestone.state !== 'active') return false;
  return wanted.when === 'upcoming'
    ? startDate !== null
      ? startDate > today
      : dueDate !== null && dueDate > today
    : startDate !== null && startDate <= today && !isExpired(milestone, now);
}

/** Where words are searched for. */
export type SearchedText = 'title' | 'description';

/** What a search looks for: words, and phrases in quotes. */
export const wordsOf = (search: string | undefined): string[] =>
  [...(search ?? '').toLowerCase().matchAll(/(?<!\S)"([^"]+)"(?!\S)|\S+/g)]
    .map(([word, phrase]) => phrase ?? word)
    .slice(0, 20);

/** Whether every word and phrase of a search is in the title or in the description. */
export async function contains(
  deps: Deps,
  record: Pick<TrackedRecord, 'title' | 'description'>,
  words: readonly string[],
  places: readonly SearchedText[] | undefined = ['title', 'description'],
): Promise<boolean> {
  const title = places.includes('title') ? record.title.toLowerCase() : '';
  const left = words.filter((word) => !title.includes(word));
  if (left.length === 0) return true;
  if (!places.includes('description') || record.description === null) return false;
  const description = (await deps.store.texts.read(record.description)).toLowerCase();
  return left.every((word) => description.includes(word));
}
