import { repositoryIdOf } from '../../records/repository-owner.ts';
import type { MovedKind, MovedSubject, StoredSubject } from '../../records/storage-moves.ts';
import { storageOf } from '../../records/storages.ts';
import type { Deps } from '../deps.ts';

/** The fields of a record of any kind that moves are about. */
interface Stored {
  readonly id: number;
  readonly storagePrefix?: string;
  readonly storageMove?: number;
  readonly repositoryId?: string;
  readonly networkId?: string;
}

/** Reads what is or may be moved, in the order of the ids; undefined where it is deleted. At most 100. */
export async function storedSubjects(
  { store }: Pick<Deps, 'store'>,
  kind: MovedKind,
  ids: readonly number[],
): Promise<(StoredSubject | undefined)[]> {
  const records: readonly (Stored | undefined)[] =
    kind === 'project'
      ? await store.projects.getMany(ids)
      : kind === 'group'
        ? await store.groups.getMany(ids)
        : await store.snippets.getMany(ids);
  return records.map((record) => record && storedSubject(kind, record));
}

export const storedSubject = (kind: MovedKind, record: Stored): StoredSubject => ({
  kind,
  id: record.id,
  storagePrefix: record.storagePrefix ?? '',
  storageMove: record.storageMove,
  repositories: repositoriesOf(kind, record),
});

/** A project has two, of its code and of its wiki. */
function repositoriesOf(
  kind: MovedKind,
  { id, repositoryId, networkId }: Stored,
): StoredSubject['repositories'] {
  const beside = repositoryIdOf({ kind: kind === 'snippet' ? 'snippet' : `${kind}-wiki`, id });
  const lazy = { repositoryId: beside, networkId: beside };
  if (repositoryId === undefined) return [lazy];
  return [{ repositoryId, networkId: networkId ?? repositoryId }, lazy];
}

export const currentStorage = ({ storagePrefix }: StoredSubject): string => storageOf(storagePrefix);

export async function storedSubjectOf(
  deps: Pick<Deps, 'store'>,
  { kind, id }: MovedSubject,
): Promise<StoredSubject | undefined> {
  return (await storedSubjects(deps, kind, [id]))[0];
}
