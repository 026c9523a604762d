import type { Container } from './labels.ts';

/** What a day makes of an iteration: its state is not stored. */
export const ITERATION_STATES = ['upcoming', 'current', 'closed'] as const;
export type IterationState = (typeof ITERATION_STATES)[number];

/** A span of days of a group in which issues of its projects, and of those further below, are worked on. */
export interface IterationRecord {
  readonly id: number;
  /** Its number in its group. */
  readonly iid: number;
  /** A group. */
  readonly container: Container;
  /** At most 255 characters, unique in its group. */
  readonly title: string;
  readonly description: string | null;
  /** First and last day, `YYYY-MM-DD`. No two iterations of a group have a day in common. */
  readonly startDate: string;
  readonly dueDate: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly version: number;
}

/** @param today `YYYY-MM-DD` */
export const iterationStateOn = (
  { startDate, dueDate }: Pick<IterationRecord, 'startDate' | 'dueDate'>,
  today: string,
): IterationState => (today < startDate ? 'upcoming' : today > dueDate ? 'closed' : 'current');
