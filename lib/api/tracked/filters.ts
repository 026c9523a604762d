/** Parameters that lists of issues and of merge requests have in common, and what they ask of the domain. */

import type { Choice, MilestoneChoice } from '../../domain/tracked/conditions.ts';
import * as p from '../../http/params.ts';

const WORDS = /^(none|any)$/i;
/** A number, `None` or `Any`. */
export const numberOrWord = (description: string) =>
  p.numberOrText({
    description: `${description}; \`None\` or \`Any\` are allowed`,
    check: (value) =>
      value.trim() === '' || WORDS.test(value) || /^\d{1,15}$/.test(value)
        ? undefined
        : `should be an integer, 'None' or 'Any', however got '${value.slice(0, 100)}'`,
  });
export const names = (description: string) => p.list(p.string(), { maxItems: 100, description });

export function labelsOf(titles: readonly string[] | undefined): Choice<readonly string[]> | undefined {
  if (titles === undefined || titles.length === 0) return undefined;
  const [first] = titles;
  if (titles.length === 1 && /^(none|no[ +]label)$/i.test(first!)) return 'none';
  return titles.length === 1 && /^any$/i.test(first!) ? 'any' : titles;
}

export function milestoneOf({
  milestone,
  milestone_id: id,
}: {
  readonly milestone?: string | undefined;
  readonly milestone_id?: string | undefined;
}): Choice<MilestoneChoice> | undefined {
  const text = milestone?.trim() || id?.trim();
  if (text === undefined || text === '') return undefined;
  const word = text.toLowerCase();
  if (word === 'none' || word === 'no milestone') return 'none';
  if (word === 'any' || word === 'any milestone') return 'any';
  const when = /^#?(upcoming|started)$/.exec(word)?.[1] as 'upcoming' | 'started' | undefined;
  if (when !== undefined && (milestone === undefined || word.startsWith('#'))) return { when };
  return milestone === undefined ? { id: Number(text) } : { title: text };
}

export function choiceOf<T>(text: string | undefined, read: (text: string) => T): Choice<T> | undefined {
  const given = text?.trim();
  if (given === undefined || given === '') return undefined;
  const word = given.toLowerCase();
  return word === 'none' || word === 'any' ? word : read(given);
}

/** Whom an ID, or usernames, ask for. */
export const peopleOf = (
  id: string | undefined,
  named: readonly number[],
): Choice<readonly number[]> | undefined => {
  if (named.length > 0) return named;
  const choice = choiceOf(id, Number);
  if (choice === 0 || choice === 'none') return 'none';
  return choice === 'any' || choice === undefined ? choice : [choice];
};

/** Where a search looks. */
export const searchedIn = () =>
  p.string({
    default: 'title,description',
    description: 'Where the words are searched for: `title`, `description` or both',
    check: (value) =>
      value.split(',').every((part) => ['title', 'description'].includes(part.trim()))
        ? undefined
        : 'does not have a valid value',
  });
