export const LINK_TYPES = ['other', 'runbook', 'image', 'package'] as const;
export type LinkType = (typeof LINK_TYPES)[number];

/** A file of a release that is stored elsewhere. */
export interface ReleaseLink {
  readonly id: number;
  /** At most 255 characters, unique in its release, as are address and path. */
  readonly name: string;
  readonly url: string;
  /** Path of its permanent address below the release, with a slash in front; null: it has none. */
  readonly filepath: string | null;
  readonly type: LinkType;
}

/** A release of a project: a tag with notes and files. */
export interface ReleaseRecord {
  readonly id: number;
  readonly projectId: number;
  /** Name of its tag, unique in the project. */
  readonly tag: string;
  /** At most 255 characters. */
  readonly name: string;
  readonly description: string;
  readonly authorId: number;
  /** Of the project, or of groups above. One of them may be deleted by now. */
  readonly milestoneIds: readonly number[];
  /** The newest first. */
  readonly links: readonly ReleaseLink[];
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  /** When it was or will be released: chosen by its author. */
  readonly releasedAt: string;
  readonly updatedAt: string;
  readonly version: number;
}
