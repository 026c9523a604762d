import type { Container } from './labels.ts';

export type MilestoneState = 'active' | 'closed';

/** A milestone of a project, or of a group, whose projects and subgroups may use it too. */
export interface MilestoneRecord {
  readonly id: number;
  /** Its number in its project or group. */
  readonly iid: number;
  readonly container: Container;
  /** At most 255 characters, unique in its project or group. */
  readonly title: string;
  readonly description: string | null;
  readonly state: MilestoneState;
  /** `YYYY-MM-DD`. */
  readonly startDate: string | null;
  readonly dueDate: string | null;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly version: number;
}
