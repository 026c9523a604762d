import { type Key, padded } from './key.ts';

// Events of activity: a project's by time. Indexes find them by what was done, and those of an author.

export const eventsPartition = (projectId: number): string => `EVENTS#PROJECT#${padded(projectId)}`;

export const authorEventsPartition = (userId: number): string => `EVENTS#USER#${padded(userId)}`;

/** @param at ISO 8601, UTC @param facet what was done, so that a key says who may know of it */
export const eventKey = (projectId: number, at: string, id: number, facet: string): Key => ({
  pk: eventsPartition(projectId),
  sk: `${at}#${padded(id)}#${facet}`,
});

/** The same by what was done. */
export const eventFacetSort = (facet: string, at: string, id: number): string =>
  `${facet}#${at}#${padded(id)}`;
