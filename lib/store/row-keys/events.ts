import type { Container } from '../../records/labels.ts';
import { idOf, type Key, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';

// Activity events: of a project or a group, by time. Indexes find them by action and by author.

const GROUP = 'EVENTS#GROUP#';
const PROJECT = 'EVENTS#PROJECT#';

export const eventsPartition = ({ kind, id }: Container): string =>
  (kind === 'group' ? GROUP : PROJECT) + padded(id);

/** What the events of a partition are of. */
export const placeOfEvents = (pk: string): Container => ({
  kind: pk.startsWith(GROUP) ? 'group' : 'project',
  id: idOf(pk),
});

export const authorEventsPartition = (userId: number): string => `EVENTS#USER#${padded(userId)}`;

/** @param at ISO 8601, UTC @param facet action and target type, so that visibility can be checked by the key */
export const eventKey = (place: Container, at: string, id: number, facet: string): Key => ({
  pk: eventsPartition(place),
  sk: `${at}#${padded(id)}#${facet}`,
});

/** Sort key by facet, then by time. */
export const eventFacetSort = (facet: string, at: string, id: number): string =>
  `${facet}#${at}#${padded(id)}`;

export const rowKinds = [
  {
    name: 'event',
    partitions: ['EVENTS#'],
    keys: { eventKey },
    of: ['project', 'group', 'user'],
    expires: true,
  },
] as const satisfies readonly RowKind[];
