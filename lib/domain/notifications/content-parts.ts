/** What contents of several kinds of notifications have in common. */

import type { ProjectRecord } from '../../records/projects.ts';
import type { ProjectAbility } from '../access/abilities/all.ts';
import type { DomainEvent, Notification } from './enqueue.ts';
import { type ProjectResource, sourceOf } from './resources.ts';

/** A notification about events of one kind. */
export type EventOf<K extends DomainEvent['kind']> = Notification & {
  readonly id: string;
  readonly happening: Extract<DomainEvent, { kind: K }>;
};

/** Maximum length of a title in a subject, in UTF-16 code units. */
const MAX_TITLE_LENGTH = 200;

export const shortTitle = (title: string): string => title.slice(0, MAX_TITLE_LENGTH);

export const aboutProject = (resource: ProjectResource, ability: ProjectAbility) => ({
  about: { resource, ability },
  unsubscribe: { source: sourceOf(resource.project) },
});

export const urlOf = ({ fullPath }: ProjectRecord, baseUrl: string): string => `${baseUrl}/${fullPath}`;
