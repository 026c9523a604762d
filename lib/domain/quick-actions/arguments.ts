/** What stands behind quick actions: users, labels, milestones. */

import type { LabelRecord } from '../../records/labels.ts';
import type { MilestoneRecord } from '../../records/milestones.ts';
import type { UserRecord } from '../../records/users.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { sameContainer, withAbove } from '../labels/containers.ts';
import { type Reference, referencesOf } from '../markdown/references.ts';

/** Names of one action; one with more finds nothing. */
const MAX_NAMES = 100;

/** The references of an action, each once. Beside text in code, an action may have any. */
export const referencesIn = (argument: string, baseUrl?: string): Reference[] => [
  ...new Map(
    [...referencesOf(argument, baseUrl)].map(({ reference }) => [reference.source, reference]),
  ).values(),
];

/** The users whom an argument names: `@one and @two`, `one two`, `me`. */
export async function usersIn(
  { store }: Deps,
  { user }: Extract<Actor, { kind: 'user' }>,
  argument: string,
): Promise<UserRecord[]> {
  const words = argument.split(/[\s,]+/).filter((word) => word !== '' && word !== 'and');
  const names = [...new Set(words.map((word) => (word === 'me' ? user.username : word.replace(/^@/, ''))))];
  if (names.length === 0 || names.length > MAX_NAMES) return [];
  const holders = await store.names.holders('path', names);
  const ids = holders.flatMap((holder) => (holder?.type === 'user' && holder.current ? [holder.id] : []));
  const users = await store.users.getMany([...new Set(ids)]);
  return users.filter((each) => each !== undefined);
}

/** The labels of a project, or inherited by it, that an argument names: `~one ~"one more" ~3`, or `one "one more"`. */
export async function labelsIn(
  { store }: Deps,
  access: ProjectAccess,
  argument: string,
): Promise<LabelRecord[]> {
  const named = argument.includes('~')
    ? referencesIn(argument).filter((each) => each.kind === 'label' && each.container === undefined)
    : [...argument.matchAll(/"([^"]+)"|(\S+)/g)].map(([, quoted, word]) => ({ title: quoted ?? word }));
  const titles = named.flatMap((each) => ('title' in each && each.title !== undefined ? [each.title] : []));
  const numbers = named.flatMap((each) =>
    'number' in each && each.number !== undefined ? [each.number] : [],
  );
  if (named.length === 0 || named.length > MAX_NAMES) return [];
  const containers = withAbove(access);
  const byTitle = titles.length === 0 ? [] : await store.labels.idsOf(containers, titles);
  const ids = [...new Set([...byTitle, ...numbers].filter((id) => id !== undefined))];
  const labels = ids.length === 0 ? [] : await store.labels.getMany(ids);
  return labels.filter(
    (label) =>
      label !== undefined && containers.some((container) => sameContainer(container, label.container)),
  ) as LabelRecord[];
}

export const labelReference = ({ title }: LabelRecord): string =>
  /^[\p{L}\p{N}_?&.:-]+$/u.test(title) ? `~${title}` : `~"${title}"`;

/** The milestone that an argument names: `%title`, `%"a title"`, `%3`, or `a title`. */
export async function milestoneIn(
  { store }: Deps,
  access: ProjectAccess,
  argument: string,
): Promise<MilestoneRecord | undefined> {
  const reference = referencesIn(argument).find((each) => each.kind === 'milestone');
  const containers = withAbove(access);
  const own = containers.slice(0, 1);
  const ids =
    reference?.kind !== 'milestone'
      ? await store.milestones.titled(containers, argument)
      : reference.title === undefined
        ? await store.milestones.numbered(own, [reference.number!])
        : await store.milestones.titled(containers, reference.title);
  return ids[0] === undefined ? undefined : store.milestones.get(ids[0]);
}

export const milestoneReference = ({ title }: MilestoneRecord): string => `%"${title}"`;
