/** Issues and merge requests follow changes of their labels, milestones, iterations and epics in the background: there may be 100,000 of one. */

import type { Container } from '../../records/labels.ts';
import { MAINTENANCE, message, type OutboxMessage } from '../outbox/outbox.ts';

/** The job of issues and merge requests, which are later subjects. */
export const FOLLOW_JOB = 'issue.follow';

export interface ChangedValue {
  readonly facet: 'label' | 'milestone' | 'iteration' | 'epic';
  readonly id: number;
  /** The project or group that it belonged to. */
  readonly container: Container;
}

/** The value is deleted. @param successorId what takes its place; absent: nothing */
export const followDeletion = (value: ChangedValue, successorId?: number): OutboxMessage =>
  follow(value, { successorId: successorId ?? null });

/** The value has another title, or a milestone other days. */
export const followChange = (value: ChangedValue): OutboxMessage => follow(value, {});

const follow = ({ facet, id: valueId, container }: ChangedValue, more: object): OutboxMessage =>
  message(MAINTENANCE, FOLLOW_JOB, { facet, valueId, ...container, ...more });
