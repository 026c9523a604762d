import { CLEAN_JOB } from '../../../lib/domain/storage-moves/run.ts';
import { MOVE_JOB } from '../../../lib/domain/storage-moves/schedule.ts';
import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { runNow } from './jobs.ts';

/** A move from one storage to another, and what it leaves to do. */
export const storageMoveJobs: readonly Operation[] = [
  {
    name: 'job: a project is moved to another storage',
    costly: true,
    async prepare(fixtures) {
      const { order, repositoryId, projectId } = await ordered(fixtures);
      return {
        run: () => runNow(fixtures, 'maintenance', MOVE_JOB, order),
        async state() {
          const { packs } = await fixtures.store.repositories.open(repositoryId).listing();
          const there = packs.filter(({ location }) => location.startsWith(order.to)).length;
          const { storagePrefix, storageMove } = (await fixtures.store.projects.get(projectId))!;
          const { state } = (await fixtures.store.storageMoves.get('project', order.id))!;
          if (there === 0 && storagePrefix === undefined && storageMove === order.id)
            return ['scheduled', 'started'].includes(state) ? 'before' : state;
          if (there === packs.length && storagePrefix === order.to && storageMove === undefined)
            return state === 'replicated' ? 'after' : state;
          return `${there} of ${packs.length} packs, ${storagePrefix}, ${storageMove}, ${state}`;
        },
      };
    },
  },
  {
    name: 'job: the place that a project was moved from is emptied',
    costly: true,
    async prepare(fixtures) {
      const { order, repositoryId } = await ordered(fixtures);
      await runNow(fixtures, 'maintenance', MOVE_JOB, order);
      const body = { ...order, place: order.from, givenUp: [] };
      return {
        run: () => runNow(fixtures, 'maintenance', CLEAN_JOB, body),
        async state() {
          const { keys } = await fixtures.store.blobs.list(`networks/${repositoryId}/packs/${repositoryId}/`);
          const { state } = (await fixtures.store.storageMoves.get('project', order.id))!;
          if (keys.length > 0) return state === 'replicated' ? 'before' : state;
          return state === 'finished' ? 'after' : 'before';
        },
      };
    },
  },
];

async function ordered(fixtures: Fixtures) {
  const { id: projectId, repositoryId } = await fixtures.ownGround();
  const { id } = await fixtures.done('POST', `/projects/${projectId}/repository_storage_moves`, {
    token: fixtures.service.rootToken,
    json: { destination_storage_name: 'cold' },
  });
  const wiki = `project-wiki-${projectId}`;
  const repositories = [
    { repositoryId, networkId: repositoryId },
    { repositoryId: wiki, networkId: wiki },
  ];
  const order = {
    kind: 'project',
    id: id as number,
    subjectId: projectId,
    from: '',
    to: `@cold/${id}/`,
    repositories,
  };
  return { order, repositoryId, projectId };
}
