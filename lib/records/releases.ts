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

/** What a release was at a moment: a JSON document, in a row of its own. */
export interface ReleaseEvidence {
  readonly id: number;
  /** Hex SHA-256 of the document. */
  readonly sha: string;
  readonly collectedAt: string;
  /** The message by which it was collected, which may come twice. */
  readonly collectedBy: string;
  /** Its document tells of milestones, with their issues where the project had these; absent: it tells of none. */
  readonly tellsOf?: 'milestones' | 'issues';
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
  /** The oldest first; absent: none was collected. */
  readonly evidences?: readonly ReleaseEvidence[];
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  /** When it was or will be released: chosen by its author. */
  readonly releasedAt: string;
  readonly updatedAt: string;
  readonly version: number;
}
