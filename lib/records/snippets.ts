import type { AuthorSnapshot } from './authors.ts';
import type { Visibility } from './visibility.ts';

/** A snippet: a few files in a repository of their own, of a user or in a project. Times are ISO 8601. */
export interface SnippetRecord {
  readonly id: number;
  /** Null: it is personal, and goes with its author. */
  readonly projectId: number | null;
  /** At most 255 characters. */
  readonly title: string;
  /** At most {@link MAX_SNIPPET_DESCRIPTION} characters. */
  readonly description: string | null;
  readonly visibility: Visibility;
  readonly author: AuthorSnapshot;
  /** The default branch of its repository, whose files it shows. */
  readonly branch: string;
  /** What keys of its new packs begin with (`lib/store/blobs/storages.ts`); absent: the default storage. */
  readonly storagePrefix?: string;
  /** The move to another storage that is under way. */
  readonly storageMove?: number;
  /** Paths on that branch in the order of git, at most {@link MAX_SNIPPET_FILES}: every push writes them. */
  readonly files: readonly string[];
  /** Bytes of its packs as last measured: its project counts them. Absent: none, or it is personal. */
  readonly repositorySize?: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Raised by each change. */
  readonly version: number;
}

export const MAX_SNIPPET_FILES = 10;

/** A row holds it, and a list reads whole rows. */
export const MAX_SNIPPET_DESCRIPTION = 32_768;

/** Whose list a snippet is in: the project's, or its author's where it is personal. */
export interface SnippetOwner {
  readonly kind: 'user' | 'project';
  readonly id: number;
}

export const ownerOfSnippet = ({
  projectId,
  author,
}: Pick<SnippetRecord, 'projectId' | 'author'>): SnippetOwner =>
  projectId === null ? { kind: 'user', id: author.id } : { kind: 'project', id: projectId };
