/** Access to the objects of projects that are related by forking. */
import { PackStore } from '../../git/pack/store.ts';
import type { ObjectDatabase } from '../../git/ports.ts';
import { GitRepository } from '../../git/repository.ts';
import type { Repository } from '../../git/wire/repository.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { forkRoot } from '../../store/forks/forks.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { PushedPointers } from '../lfs/pushed-pointers.ts';
import { openRepository, type Pusher, type Together } from '../repository/open.ts';

/** Whether two projects are forks of one root, or one is a fork of the other. */
export const related = (a: ProjectRecord, b: ProjectRecord): boolean =>
  forkRoot(a) === forkRoot(b) || a.forkedFromId === b.id || b.forkedFromId === a.id;

/** Maximum number of objects copied within a request. */
const MAX_COPIED = 50_000;

interface AlternateOptions {
  /** Objects that a write copies at most. */
  readonly maxResurrected?: number | undefined;
  /** What happens if and only if refs of the project move. */
  readonly together?: Together;
}

/**
 * Opens a project's repository with another one as an alternate, whose objects it can read. A write that refers to
 * objects of the alternate first copies them: they are treated as unreachable garbage, which writes resurrect.
 *
 * The caller of this function has checked that the actor may read the other project's code.
 */
export function codeWithAlternate(
  deps: Deps,
  own: ProjectAccess,
  other: ProjectAccess,
  pusher?: Pusher,
  { maxResurrected = MAX_COPIED, together }: AlternateOptions = {},
): GitRepository {
  const { project, hidesProposals } = own;
  const repository = openRepository(deps, project, { pusher, hidesProposals });
  const mine = together === undefined ? repository : repository.together(together);
  const theirs = openRepository(deps, other.project);
  const ports = withAlternate(deps, mine, theirs);
  // What copied pointers of Git LFS lead to comes along, before anything refers to them.
  const pointers = new PushedPointers();
  const objects: ObjectDatabase = {
    ...ports.objects,
    newPack: async (content, about) => {
      await pointers.inherit(deps, project, other.project);
      return ports.objects.newPack(content, about);
    },
  };
  // Without the history cache, which may hold commits of this repository only.
  return new GitRepository({
    ...ports,
    objects,
    maxResurrected,
    onSmallBlob: (data) => pointers.see(data),
  });
}

function withAlternate(deps: Deps, own: Repository, other: Repository): Repository {
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
