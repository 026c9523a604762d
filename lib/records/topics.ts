import type { AvatarRecord } from './avatars.ts';

/** A topic of projects. Projects hold the names of theirs; rows beside them lead from a topic to its projects. */
export interface TopicRecord {
  readonly id: number;
  /** Unique, ignoring case. */
  readonly name: string;
  readonly title: string;
  readonly description: string | null;
  readonly avatar: AvatarRecord | null;
  /** Whether an administrator created or changed it: it is then shown even if only private projects have it. */
  readonly curated: boolean;
  /** Number of projects that have it. */
  readonly projectsCount: number;
  /** How many of them are not private. */
  readonly shownCount: number;
  /** ISO 8601, UTC. */
  readonly updatedAt: string;
  /** Increases with every change, of the counts too. */
  readonly version: number;
  /** Of a topic that was deleted or merged, and whose projects a job changes: the topic that replaces it, if any. */
  readonly gone?: { readonly into: number | null };
}
