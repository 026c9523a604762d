/** What projects that are related by forking may read of each other, and how. */
import { PackStore } from '../../git/pack/store.ts';
import type { ObjectDatabase } from '../../git/ports.ts';
import { GitRepository } from '../../git/repository.ts';
import type { Repository } from '../../git/wire/repository.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { forkRoot } from '../../store/forks/forks.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { openRepository, type Pusher } from '../repository/open.ts';

/** Whether both descend from one project, or one from the other. */
export const related = (a: ProjectRecord, b: ProjectRecord): boolean =>
  forkRoot(a) === forkRoot(b) || a.forkedFromId === b.id || b.forkedFromId === a.id;

/** A copy of more would not be done within a request. */
const MAX_COPIED = 50_000;

/**
 * A project's repository that reads the objects of another besides its own. What is written to it, and builds on what
 * only the other has, brings along a copy of that: it is read as what a collection found unreachable is, and resurrected.
 *
 * Whoever asks for it has seen to it that the caller may read the other's code.
 */
export function codeBeside(
  deps: Deps,
  own: ProjectAccess,
  other: ProjectAccess,
  pusher?: Pusher,
  maxResurrected = MAX_COPIED,
): GitRepository {
  const [mine, theirs] = [openRepository(deps, own.project, { pusher }), openRepository(deps, other.project)];
  const ports = beside(deps, mine, theirs);
  // No memory of walks: it holds what the repository has accepted, and nothing else.
  return new GitRepository({ ...ports, maxResurrected });
}

function beside(deps: Deps, own: Repository, other: Repository): Repository {
  const objects: ObjectDatabase = {
    async listPacks(options) {
      const [mine, theirs] = await Promise.all([
        own.objects.listPacks(options),
        other.objects.listPacks(options),
      ]);
      const shared = new Set(mine.map(({ location }) => location));
      const foreign = theirs.filter(({ location }) => !shared.has(location));
      return [...mine, ...foreign.map((pack) => ({ ...pack, source: 'unreachable-garbage' as const }))];
    },
    open: own.objects.open.bind(own.objects),
    newPack: own.objects.newPack.bind(own.objects),
    rollbackPack: own.objects.rollbackPack.bind(own.objects),
  };
  return { objects, refs: own.refs, store: new PackStore(objects, { cache: deps.packs }), cache: deps.packs };
}
