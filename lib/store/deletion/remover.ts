import type { AuthorSnapshot } from '../../records/authors.ts';
import type { GroupRecord } from '../../records/groups.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { NetworkMember } from '../repository/fork-networks.ts';
import type { RowKindName } from '../row-keys/all.ts';
import type { Key } from '../row-keys/key.ts';
import type { UserRow as UserRowName } from '../row-keys/users.ts';
import type { Write } from '../table/write.ts';

/**
 * What a subject of the store deletes when a project, group, user or repository is deleted. Each subject that has such
 * rows exports one as `remover` from its `remover.ts`; `removers.ts` collects them in the order in which they run.
 * @typeParam S the stores it needs
 */
export interface Remover<S> {
  readonly ofProject?: Removal<S, DeletedProject>;
  readonly ofGroup?: GroupRemoval<S>;
  readonly ofRepository?: Removal<S, DeletedRepository>;
  readonly ofUser?: Removal<S, DeletedUser>;
  readonly ofUserRows?: UserRowsRemoval<S>;
}

/**
 * Deletes the rows of one subject. Idempotent, also when two runs overlap; continues where an earlier run stopped.
 */
export interface Removal<S, Deleted> {
  /** Kinds of the rows that `run` deletes or anonymizes. */
  readonly rows: readonly RowKindName[];
  /** Kinds of the rows deleted earlier: in the transaction that deletes the record or marks it as deleted. */
  readonly rowsWithRecord?: readonly RowKindName[];
  /**
   * @param deadline milliseconds since 1970; no new page of rows begins after it
   * @returns whether nothing remains
   */
  run?(stores: S, deleted: Deleted, deadline: number): Promise<boolean>;
}

export interface GroupRemoval<S> extends Removal<S, GroupRecord> {
  /** Writes for the transaction that deletes the record, which is the last step. */
  last?(group: GroupRecord): readonly Write[];
}

export interface DeletedProject {
  readonly id: number;
  /** The record, marked as deleted; undefined when an earlier run has deleted it. */
  readonly record: ProjectRecord | undefined;
  /** Who deleted it. */
  readonly deleterId?: number;
}

/** A deleted repository. Its fork network and its storage are given if the repository's own rows may be deleted. */
export interface DeletedRepository {
  readonly repositoryId: string;
  readonly networkId?: NetworkMember['networkId'];
  readonly storagePrefix?: NonNullable<NetworkMember['storagePrefix']>;
  readonly now: Date;
}

export interface DeletedUser {
  readonly userId: number;
  /** Whether what the user wrote is deleted too, and groups that have no other owner. */
  readonly hard?: boolean;
  /** The user who stands in for deleted users, as the author of what remains. */
  readonly ghost: AuthorSnapshot;
  readonly deleteOwned: DeleteOwned;
}

/** Deletes a project or group whose only owner was the user. Ignores one that was changed or deleted concurrently. */
export interface DeleteOwned {
  project(project: ProjectRecord): Promise<void>;
  group(group: GroupRecord): Promise<void>;
}

/**
 * For rows that name a user in the index `byUser`, which may be late: a row that appears in it later is deleted by a
 * later run.
 */
export interface UserRowsRemoval<S> {
  readonly rows: readonly RowKindName[];
  readonly byRow: Readonly<
    Partial<Record<UserRowName, (stores: S, row: UserRow, user: DeletedUser) => Promise<unknown>>>
  >;
}

/** A row as the index returns it. */
export type UserRow = Key & { readonly what: string };
