/** Project statistics, measured by a worker some time after a change. */

import { CorruptData } from '../../git/corrupt-data.ts';
import { ObjectMissing } from '../../git/objects.ts';
import type { Oid } from '../../git/oid.ts';
import type { GitRepository } from '../../git/repository.ts';
import { LimitExceeded } from '../../git/work.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { STORAGE_SIZES, storageSizes } from '../../records/storage-sizes.ts';
import { Missing, Stale } from '../../store/errors.ts';
import type { ProjectStatistics } from '../../store/statistics/statistics.ts';
import type { Deps } from '../deps.ts';
import { bytesBesideCode, bytesOf } from '../repository/bytes.ts';
import { isImporting } from '../repository/import-state.ts';
import { codeOf } from '../repository/read.ts';
import { languagesOf } from './languages.ts';
import { findLicense } from './licenses.ts';

/** Attempts when concurrent measurements conflict. */
const MAX_ATTEMPTS = 3;
/** Upper bound of the commit count. */
const MAX_COMMITS = 5_000_000;

/** Job of the worker. Idempotent; may run late, or after the project was deleted. */
export async function measureProject(deps: Deps, projectId: number): Promise<void> {
  const { projects, statistics } = deps.store;
  for (let attempt = 1; ; attempt++) {
    const [project, previous] = await Promise.all([projects.get(projectId), statistics.ofProject(projectId)]);
    if (project === undefined || isImporting(project)) return;
    try {
      const current = await measured(deps, project, previous);
      if (previous === undefined || changed(previous, current))
        await statistics.save(projectId, previous, current);
      return;
    } catch (error) {
      if (error instanceof Missing) return;
      if (!(error instanceof Stale) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

type Measured = Omit<ProjectStatistics, 'version'>;

async function measured(
  deps: Deps,
  project: ProjectRecord,
  previous: ProjectStatistics | undefined,
): Promise<Measured> {
  const git = codeOf(deps, { project, level: 0 });
  const [{ head }, packs, lfs, wikiSize, packages, artifactsSize, snippetsSize] = await Promise.all([
    git.headRef(),
    deps.store.repositories.open(project.repositoryId).listPacks(),
    deps.store.lfsObjects.total(project.id),
    bytesBesideCode(deps, { kind: 'project-wiki', id: project.id }),
    deps.store.packages.totals(project.id),
    deps.store.artifacts.total(project.id),
    deps.store.snippets.total(project.id),
  ]);
  const tip = head && (head.peeled ?? head.oid);
  // Packs that a fork shares with its source count for the source.
  const own = packs.filter(({ inherited }) => inherited !== true);
  const sizes = {
    repositorySize: bytesOf(own),
    lfsObjectsSize: lfs.bytes,
    wikiSize,
    packagesSize: packages.bytes,
    artifactsSize,
    snippetsSize,
  };
  const countedIn = project.namespaceKind === 'group' ? project.namespaceId : null;
  if (tip === undefined) return { head: null, commitCount: 0, ...sizes, languages: {}, countedIn };
  if (tip === previous?.head) return { ...previous, ...sizes, countedIn };
  const [commitCount, languages, license] = [
    await orElse(previous?.commitCount ?? 0, () => commitsOf(git, tip, previous)),
    await orElse(previous?.languages ?? {}, () => languagesOf(git, tip)),
    await orElse(previous?.license ?? null, () => findLicense(git, tip)),
  ];
  return { head: tip, commitCount, ...sizes, languages, license, countedIn };
}

const changed = (previous: ProjectStatistics, current: Measured): boolean => {
  const [was, is] = [storageSizes(previous), storageSizes(current)];
  return (
    previous.head !== current.head ||
    previous.countedIn !== current.countedIn ||
    previous.storageSize === undefined ||
    STORAGE_SIZES.some((size) => was[size] !== is[size])
  );
};

/** Counts only the new commits if the last measured head is an ancestor of the tip. */
async function commitsOf(
  git: GitRepository,
  tip: Oid,
  previous: ProjectStatistics | undefined,
): Promise<number> {
  const { history } = git;
  const measuredHead = previous?.head as Oid | null | undefined;
  if (
    previous !== undefined &&
    measuredHead &&
    (await history.isAncestor(measuredHead, tip).catch(unlessMissing)) === true
  )
    return (
      previous.commitCount + (await history.count({ tips: [tip], exclude: [measuredHead] }, MAX_COMMITS))
    );
  return history.count({ tips: [tip] }, MAX_COMMITS);
}

function unlessMissing(error: unknown): undefined {
  if (!(error instanceof ObjectMissing)) throw error;
}

/** Keeps the previous value if the repository is damaged or exceeds a limit. */
async function orElse<T>(otherwise: T, measure: () => Promise<T>): Promise<T> {
  try {
    return await measure();
  } catch (error) {
    if (error instanceof CorruptData || error instanceof ObjectMissing || error instanceof LimitExceeded)
      return otherwise;
    throw error;
  }
}
