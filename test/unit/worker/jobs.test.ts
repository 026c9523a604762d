import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { callHookJob, importFetchJob } from '../../../functions/outbound.ts';
import type { Deps } from '../../../lib/domain/deps.ts';
import { forkJobs } from '../../../lib/domain/forks/jobs.ts';
import { ingestJobs as pushJobs } from '../../../lib/domain/git/jobs.ts';
import { ingestJobs as importJobs } from '../../../lib/domain/imports/jobs.ts';
import { defineJob, type Job, type JobContext, type JobOutcome } from '../../../lib/domain/job.ts';
import { mailJobs } from '../../../lib/domain/mail/jobs.ts';
import { proposePushed } from '../../../lib/domain/merge-requests/of-pushes.ts';
import { maintenanceJobs } from '../../../lib/domain/worker/dispatch.ts';
import { jobReader, jobRunner } from '../../../lib/domain/worker/run-job.ts';
import { type OutboxMessage, writtenAt } from '../../../lib/store/outbox/outbox.ts';
import type { Put } from '../../../lib/store/table/write.ts';

const NOW = new Date('2026-03-04T05:06:07.000Z');

/** Deps of a runner, and what it enqueued through them. */
function recorder() {
  const enqueued: { queue: string; type: string; body: unknown; at?: Date }[] = [];
  const store = {
    outbox: {
      commit: async (_: unknown, messages: readonly OutboxMessage[]) => {
        for (const { queue, type, body } of messages) enqueued.push({ queue, type, body });
      },
    },
    table: {
      put: async ({ put }: Put) => {
        const { queue, type, body, sk } = put as unknown as Record<'queue' | 'type' | 'body' | 'sk', string>;
        enqueued.push({ queue, type, body, at: writtenAt(sk) });
      },
    },
  };
  return { enqueued, deps: { store, now: () => NOW } as unknown as Deps };
}

const seen: { body: unknown; context: JobContext }[] = [];
const job = (outcome: JobOutcome) =>
  defineJob({
    name: 'thing.walk',
    formerNames: ['thing.look', 'thing.stroll'],
    body: () => z.object({ thingId: z.number(), after: z._default(z.number(), 0) }),
    run: async (_, body, context) => {
      seen.push({ body, context });
      return outcome;
    },
  });

async function runs(outcome: JobOutcome, type = 'thing.walk') {
  const { deps, enqueued } = recorder();
  await jobRunner('chores', [job(outcome)])(deps, { id: 'm1', type, body: { thingId: 7, more: 'x' } });
  return enqueued;
}

describe('a job', () => {
  test('is given what its schema reads, and the message that asks for it', async () => {
    const before = Date.now();
    await runs(undefined);
    const { body, context } = seen.at(-1)!;
    expect(body).toEqual({ thingId: 7, after: 0 });
    expect(context).toMatchObject({ messageId: 'm1', lastDelivery: false });
    expect(context.deadline).toBeGreaterThanOrEqual(before + 45_000);
    expect(context.stopsAt).toBeGreaterThan(context.deadline);
  });

  test.each([[undefined], [true]])('that is done (%s) enqueues nothing', async (outcome) => {
    expect(await runs(outcome)).toEqual([]);
  });

  test('that its time slice ended is enqueued as it came', async () => {
    expect(await runs(false)).toEqual([
      { queue: 'chores', type: 'thing.walk', body: { thingId: 7, more: 'x' } },
    ]);
  });

  test('goes on with the body it returns', async () => {
    expect(await runs({ body: { thingId: 7, after: 100 } })).toEqual([
      { queue: 'chores', type: 'thing.walk', body: { thingId: 7, after: 100 } },
    ]);
  });

  test('that is blocked comes again after a delay', async () => {
    expect(await runs({ delayMs: 5_000 })).toEqual([
      {
        queue: 'chores',
        type: 'thing.walk',
        body: { thingId: 7, more: 'x' },
        at: new Date(NOW.getTime() + 5_000),
      },
    ]);
  });

  test('that came under a former name goes on under the present one', async () => {
    expect(await runs(false, 'thing.stroll')).toMatchObject([{ type: 'thing.walk' }]);
  });
});

test('a bad body is an error that names the job and the fields', () => {
  const read = jobReader([job(true)]);
  expect(() => read({ id: 'm', type: 'thing.look', body: { thingId: 'x', after: null } })).toThrow(
    'bad body of the job thing.walk: thingId (no number), after (no number)',
  );
});

test('no two jobs have one name', () => {
  const other = { ...job(true), name: 'thing.stroll', formerNames: [] };
  expect(() => jobReader([job(true), other])).toThrow('two jobs are called thing.stroll');
});

describe('messages of the release before', () => {
  const repository = { networkId: 'n', repositoryId: 'r' };
  const order = { url: 'https://x', packUrl: 'https://y', refsUrl: 'https://z', maxPackBytes: 1, allow: '' };
  test.each<[Job['type'], string, readonly unknown[], Job['body']]>([
    ['network.look', 'packs.gc', maintenanceJobs, { ...repository, unlisted: ['p'], since: '2026-01-01' }],
    [
      'group.leave-below',
      'group.remove-descendant-memberships',
      maintenanceJobs,
      { groupId: 1, userId: 2, until: '2026-01-01', by: { authorId: 1, name: 'Ada', authorClass: 'User' } },
    ],
    [
      'repository.stage',
      'repository.import-fetch',
      [importFetchJob],
      { projectId: 1, importId: 'i', ...order },
    ],
  ])('%s is handled as %s', async (former, name, jobs, body) => {
    const ran: unknown[] = [];
    const spied = (jobs as (typeof maintenanceJobs)[number][]).map((definition) => ({
      ...definition,
      run: async (_: unknown, read: unknown) => void ran.push([definition.name, read]),
    }));
    const read = jobReader(spied)({ id: 'm', type: former, body });
    expect(read.name).toBe(name);
    await read.run({} as Deps, { messageId: 'm', lastDelivery: false, deadline: 0, stopsAt: 0 });
    expect(ran).toEqual([[name, body]]);
  });
});

test('kinds of jobs are counted in the manual, because each has metrics that cost', () => {
  const all = [
    ...maintenanceJobs,
    ...forkJobs,
    ...pushJobs({ propose: proposePushed }),
    ...importJobs,
    ...mailJobs,
    importFetchJob,
    callHookJob,
  ];
  const names = new Set(all.map(({ name }) => name));
  expect(names.size).toBe(all.length);
  const manual = readFileSync(join(import.meta.dirname, '../../../docs/operations.md'), 'utf8');
  expect(manual.replace(/\s+/g, ' ')).toContain(`all ${names.size} kinds of jobs`);
});
