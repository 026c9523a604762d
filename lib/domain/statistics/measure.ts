/** What a worker finds out of a project some time after it changed. */

import { CorruptData } from '../../git/corrupt-data.ts';
import { HistoryLimit } from '../../git/history.ts';
import { ObjectMissing } from '../../git/objects.ts';
import type { Oid } from '../../git/oid.ts';
import type { GitRepository } from '../../git/repository.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { Missing, Stale } from '../../store/errors.ts';
import type { ProjectStatistics } from '../../store/statistics/statistics.ts';
import type { Deps } from '../deps.ts';
import { isImporting } from '../repository/import-state.ts';
import { codeOf } from '../repository/read.ts';
import { languagesOf } from './languages.ts';
import { findLicense } from './licenses.ts';

/** Tries at what others measure at the same time. */
const TRIES = 3;
/** More are not counted. */
const MAX_COMMITS = 5_000_000;

/** The worker's: may come any number of times, late, or after the project is gone. */
export async function measureProject(deps: Deps, projectId: number): Promise<void> {
  const { projects, statistics } = deps.store;
  for (let tries = 1; ; tries++) {
    const [project, was] = await Promise.all([projects.get(projectId), statistics.ofProject(projectId)]);
    if (project === undefined || isImporting(project)) return;
    try {
      const is = await measured(deps, project, was);
      if (was === undefined || changed(was, is)) await statistics.save(projectId, was, is);
      return;
    } catch (error) {
      if (error instanceof Missing) return;
      if (!(error instanceof Stale) || tries === TRIES) throw error;
    }
  }
}

type Measured = Omit<ProjectStatistics, 'version'>;

async function measured(
  deps: Deps,
  project: ProjectRecord,
  was: ProjectStatistics | undefined,
): Promise<Measured> {
  const git = codeOf(deps, { project, level: 0 });
  const [{ head }, packs] = await Promise.all([
    git.headRef(),
    deps.store.repositories.open(project.repositoryId).listPacks(),
  ]);
  const tip = head && (head.peeled ?? head.oid);
  // What a fork only lists is its source's.
  const own = packs.filter(({ inherited }) => inherited !== true);
  const repositorySize = own.reduce((sum, { packSize, indexSize }) => sum + packSize + indexSize, 0);
  const countedIn = project.namespaceKind === 'group' ? project.namespaceId : null;
  if (tip === undefined) return { head: null, commitCount: 0, repositorySize, languages: {}, countedIn };
  if (tip === was?.head) return { ...was, repositorySize, countedIn };
  const [commitCount, languages, license] = [
    await orElse(was?.commitCount ?? 0, () => commitsOf(git, tip, was)),
    await orElse(was?.languages ?? {}, () => languagesOf(git, tip)),
    await orElse(was?.license ?? null, () => findLicense(git, tip)),
  ];
  return { head: tip, commitCount, repositorySize, languages, license, countedIn };
}

const changed = (was: ProjectStatistics, is: Measured): boolean =>
  was.head !== is.head || was.repositorySize !== is.repositorySize || was.countedIn !== is.countedIn;

/** Where the last measure is still part of the history, what has come since is enough. */
async function commitsOf(git: GitRepository, tip: Oid, was: ProjectStatistics | undefined): Promise<number> {
  const { history } = git;
  const before = was?.head as Oid | null | undefined;
  if (was !== undefined && before && (await history.isAncestor(before, tip).catch(unlessMissing)) === true)
    return was.commitCount + (await history.count({ tips: [tip], exclude: [before] }, MAX_COMMITS));
  return history.count({ tips: [tip] }, MAX_COMMITS);
}

function unlessMissing(error: unknown): undefined {
  if (!(error instanceof ObjectMissing)) throw error;
}

/** What cannot be measured, in a repository that is damaged or beyond all bounds, stays as it was. */
async function orElse<T>(otherwise: T, measure: () => Promise<T>): Promise<T> {
  try {
    return await measure();
  } catch (error) {
    if (error instanceof CorruptData || error instanceof ObjectMissing || error instanceof HistoryLimit)
      return otherwise;
    throw error;
  }
}
