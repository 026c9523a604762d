/**
 * The state of a project whose repository is filled from another one: `scheduled` by the request that created it,
 * then `started` and `finished` or `failed` by a worker. Until it is finished, the repository reads as empty and
 * accepts only the worker's writes (`openRepository`).
 */
import { RefConflict } from '../../git/ports.ts';
import type { RefDatabase } from '../../git/ref-database.ts';
import type { ImportStatus } from '../../records/imports.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { ConditionFailed } from '../../store/errors.ts';
import type { Check, Update } from '../../store/table/write.ts';
import type { Deps } from '../deps.ts';

export const isImporting = ({ importStatus }: ProjectRecord): boolean => IN_PROGRESS.includes(importStatus);

/**
 * Marks an import as started; called at every delivery of its message, as a crashed worker leaves `started` behind.
 * @returns undefined if the project was deleted or its import has ended
 */
export async function startImport(deps: Deps, projectId: number): Promise<ProjectRecord | undefined> {
  const { projects, table } = deps.store;
  if (!(await moved(table.update(projects.importTransition(projectId, IN_PROGRESS, 'started')))))
    return undefined;
  return projects.get(projectId);
}

/** For the transaction that fills the repository; refused with the reason `import` if the import has ended. */
const importFinishes = ({ store }: Pick<Deps, 'store'>, projectId: number): Update =>
  store.projects.importTransition(projectId, IN_PROGRESS, 'finished');

/** Like {@link importFinishes}, for a transaction that also sets the project's default branch. */
export const importFills = (deps: Deps, projectId: number, change: { defaultBranch?: string }): Update =>
  deps.store.projects.importCompletion(projectId, IN_PROGRESS, deps.now(), change);

/** A check for earlier transactions of the import; refused with the reason `import` if it has ended. */
export const checkImporting = ({ store }: Pick<Deps, 'store'>, projectId: number): Check => {
  const { update, if: condition = '', values = {}, reason = '' } = importFinishes({ store }, projectId);
  return { check: update, if: condition, values, reason };
};

/** Marks an import as finished. @returns false if it had already ended */
export const finishImport = (deps: Deps, projectId: number): Promise<boolean> =>
  moved(deps.store.table.update(importFinishes(deps, projectId)));

/** Marks an import as failed. @param error shown to maintainers. @returns false if it had already ended */
export const failImport = (deps: Deps, projectId: number, error: string): Promise<boolean> =>
  moved(
    deps.store.table.update(deps.store.projects.importTransition(projectId, IN_PROGRESS, 'failed', error)),
  );

/** The refs of a repository that is being filled, for everybody but the worker: empty and read-only. */
export function emptyRefs(refs: RefDatabase): RefDatabase {
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

const IN_PROGRESS: readonly ImportStatus[] = ['scheduled', 'started'];

async function moved(update: Promise<unknown>): Promise<boolean> {
  try {
    await update;
    return true;
  } catch (error) {
    if (error instanceof ConditionFailed) return false;
    throw error;
  }
}
