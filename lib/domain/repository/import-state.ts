/**
 * Where a project stands whose repository is filled with the content of another: `scheduled` by the request that made
 * it, `started` and `finished` or `failed` by a worker. Until then the repository reads as empty and takes no writes
 * but the worker's (`openRepository`).
 */
import { RefConflict } from '../../git/ports.ts';
import type { RefDatabase } from '../../git/ref-database.ts';
import type { ImportStatus } from '../../records/imports.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { ConditionFailed } from '../../store/errors.ts';
import type { Check, Update } from '../../store/table/write.ts';
import type { Deps } from '../deps.ts';

export const isImporting = ({ importStatus }: ProjectRecord): boolean => UNDER_WAY.includes(importStatus);

/**
 * For a worker at every delivery of its message: one that died has left `started` behind.
 * @returns undefined when there is nothing to do: the project is gone, or its import has ended
 */
export async function startImport(deps: Deps, projectId: number): Promise<ProjectRecord | undefined> {
  const { projects, table } = deps.store;
  if (!(await moved(table.update(projects.importTransition(projectId, UNDER_WAY, 'started'))))) return undefined;
  return projects.get(projectId);
}

/** For the transaction that fills the repository; refused as `import` when it is not for this worker to do any more. */
const importFinishes = ({ store }: Pick<Deps, 'store'>, projectId: number): Update =>
  store.projects.importTransition(projectId, UNDER_WAY, 'finished');

/** The same in a transaction that makes the first branch, which belongs to the project's item too. */
export const importFills = (deps: Deps, projectId: number, change: { defaultBranch?: string }): Update =>
  deps.store.projects.importCompletion(projectId, UNDER_WAY, deps.now(), change);

/** For the transactions before that one; refused as `import` too. */
export const mayStillImport = ({ store }: Pick<Deps, 'store'>, projectId: number): Check => {
  const { update, if: condition = '', values = {}, reason = '' } = importFinishes({ store }, projectId);
  return { check: update, if: condition, values, reason };
};

/** For an import that was filled in several steps. @returns false when it had ended otherwise */
export const finishImport = (deps: Deps, projectId: number): Promise<boolean> =>
  moved(deps.store.table.update(importFinishes(deps, projectId)));

/** @param error shown to whoever maintains the project. @returns false when it had ended otherwise */
export const failImport = (deps: Deps, projectId: number, error: string): Promise<boolean> =>
  moved(deps.store.table.update(deps.store.projects.importTransition(projectId, UNDER_WAY, 'failed', error)));

/** The refs of a repository that is being filled, for everybody but the worker: none, and none can be made. */
export function withoutContent(refs: RefDatabase): RefDatabase {
  return {
    all: async () => ({ head: await refs.head(), refs: [] }),
    view: async () => ({ head: await refs.head(), refs: () => nothing() }),
    page: async () => ({ refs: [], total: 0, more: false }),
    get: async () => new Map(),
    head: () => refs.head(),
    headRef: async () => ({ target: await refs.head(), head: undefined }),
    pinned: () => refs.pinned(),
    recentTips: async () => [],
    compareAndSwap: async () => {
      throw new RefConflict([{ name: null, reason: 'importing' }]);
    },
  };
}

async function* nothing(): AsyncGenerator<never> {}

const UNDER_WAY: readonly ImportStatus[] = ['scheduled', 'started'];

async function moved(update: Promise<unknown>): Promise<boolean> {
  try {
    await update;
    return true;
  } catch (error) {
    if (error instanceof ConditionFailed) return false;
    throw error;
  }
}
