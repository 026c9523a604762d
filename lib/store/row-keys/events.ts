import { type Key, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';

// Activity events: a project's, by time. Indexes find them by action and by author.

export const eventsPartition = (projectId: number): string => `EVENTS#PROJECT#${padded(projectId)}`;

export const authorEventsPartition = (userId: number): string => `EVENTS#USER#${padded(userId)}`;

/** @param at ISO 8601, UTC @param facet action and target type, so that visibility can be checked by the key */
export const eventKey = (projectId: number, at: string, id: number, facet: string): Key => ({
  pk: eventsPartition(projectId),
  sk: `${at}#${padded(id)}#${facet}`,
});

/** Sort key by facet, then by time. */
export const eventFacetSort = (facet: string, at: string, id: number): string =>
  `${facet}#${at}#${padded(id)}`;

export const rowKinds = [
  { name: 'event', partitions: ['EVENTS#'], keys: { eventKey }, of: ['project', 'user'], expires: true },
] as const satisfies readonly RowKind[];
