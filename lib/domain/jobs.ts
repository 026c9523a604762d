import type { Deps } from './deps.ts';

/** A message of the maintenance queue, as the outbox wrote it. */
export interface Job {
  readonly id: string;
  readonly type: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * Does the work of one message. Every job may come twice, late, or after its subject is gone.
 * @throws what went wrong: the message comes again
 */
export async function runJob(deps: Deps, job: Job): Promise<void> {
  const run = JOBS[job.type];
  if (run === undefined) throw new Error(`no job is called ${job.type}`);
  await run(deps, job);
}

const JOBS: Readonly<Record<string, (deps: Deps, job: Job) => Promise<void>>> = {
  'search.index': async (deps, { body }) => {
    const id = numberOf(body, 'id');
    if (body['kind'] === 'project') {
      await deps.store.search.index('project', id, async () => {
        const project = await deps.store.projects.get(id);
        return project && [project.name, project.path];
      });
    } else {
      await deps.store.search.index('user', id, async () => {
        const user = await deps.store.users.get(id);
        return user && [user.name, user.username];
      });
    }
  },
};

function numberOf(body: Readonly<Record<string, unknown>>, name: string): number {
  const value = body[name];
  if (typeof value !== 'number') throw new Error(`a message without ${name}`);
  return value;
}
