/** What a worker writes for an alert, and what is left where it dies. */
import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { noteAlert } from '../../../lib/domain/alerts/note.ts';
import type { Deps } from '../../../lib/domain/deps.ts';
import type { ProjectRecord } from '../../../lib/records/projects.ts';
import type { UserRecord } from '../../../lib/records/users.ts';
import { Alerts } from '../../../lib/store/alerts/alerts.ts';
import { AlertCauses } from '../../../lib/store/alerts/causes.ts';
import { Outbox } from '../../../lib/store/outbox/outbox.ts';
import {
  alertCauseKey,
  alertCountKey,
  alertKey,
  alertsPartition,
  alertTallyKey,
} from '../../../lib/store/row-keys/alerts.ts';
import type { Store } from '../../../lib/store/store.ts';
import type { Table } from '../../../lib/store/table/table.ts';
import { createProject, newUser, openTestStore, type TestStore } from '../table/store-fixture.ts';
import { Died, mortal } from './mortal.ts';

let opened: TestStore;
let owner: UserRecord;
beforeAll(async () => {
  opened = await openTestStore();
  owner = await opened.store.users.create(newUser('owner'));
});
afterAll(() => opened.close());

let project: ProjectRecord;
let count = 0;
beforeEach(async () => {
  project = await createProject(opened.store, owner, `watched-${count++}`);
});

const AT = '2026-11-20T10:00:00.000Z';
const ENDED = { end_time: '2026-11-20T11:00:00Z' };

/** The store with which a worker writes to a table. */
function storeOn(table: Table): Store {
  const outbox = new Outbox(table);
  const alertCauses = new AlertCauses(table, opened.store.processed);
  const alerts = new Alerts(table, outbox, alertCauses);
  return Object.create(opened.store, {
    outbox: { value: outbox },
    alertCauses: { value: alertCauses },
    alerts: { value: alerts },
  }) as Store;
}

/** @param id of the message; @param table with which its worker writes */
const note = (id: string, sent: object = {}, table = opened.store.table): Promise<void> => {
  const deps = { store: storeOn(table), now: () => new Date(AT), environment: opened.store.environment };
  const taken = { projectId: project.id, integrationId: 1, at: AT, baseUrl: '' };
  const payload = JSON.stringify({ title: 'Disk full', fingerprint: 'disk', ...sent });
  return noteAlert(deps as unknown as Deps, { ...taken, payload }, `${project.id}-${id}`);
};
const alerts = async () => (await opened.store.alerts.list(project.id, 50, undefined, () => true)).items;
/** The numbers and counts of all alerts, the newest first, and whether they are open. */
const shown = async () => (await alerts()).map(({ iid, events, status }) => `${iid} ${events} ${status}`);
const rows = async () => (await opened.store.table.query({ partition: alertsPartition(project.id) })).items;
async function writeUnits(act: () => Promise<void>): Promise<number> {
  opened.reset();
  await act();
  return opened.operations.reduce((sum, { writeUnits }) => sum + writeUnits, 0);
}

const PROSE =
  'Less than two percent of the disk are left on build-7, and the nightly build will not end. Old caches of ' +
  'dependencies under /var/cache take most of it; logs of last week were not moved away since the timer was ' +
  'stopped on Tuesday. To make room at once, remove images that no container uses, then look whether anything ' +
  'else grows: the database keeps its write-ahead log for a replica that no longer exists, about nine gigabytes ' +
  'an hour. Whoever is on call may restart the timer; moving the volume needs somebody from the platform team, ' +
  'who are reached by phone until ten and by pager afterwards. If free space falls below one percent, the queue ' +
  'of builds is closed by itself, and opened again when there is room. See the page about disks in the handbook ' +
  'for what each folder is for, and write down there what you removed and why, so that the next one who gets ' +
  'this message at night need not find out again. Last time it was the crash dumps of the old scanner.';

describe('what a worker writes for an alert', () => {
  test('is three units for the first of a cause, also with as long a description as is kept', async () => {
    expect(await writeUnits(() => note('short'))).toBe(3);
    const long = {
      ...{ fingerprint: 'disk:build-7', title: 'Disk of build-7 is almost full', description: PROSE },
      ...{ service: 'build-7', monitoring_tool: 'Watcher', severity: 'high', hosts: ['build-7.example.com'] },
      ...{ start_time: AT, gitlab_environment_name: 'production', labels: { rack: 'b12', team: 'platform' } },
    };
    expect(PROSE.length).toBeGreaterThan(950);
    expect(await writeUnits(() => note('long', long))).toBe(3);
    expect((await alerts())[0]).toMatchObject({ description: PROSE, hosts: ['build-7.example.com'] });
  });

  test('is three units for each that is sent again', async () => {
    await note('first');
    for (const id of ['second', 'third']) expect(await writeUnits(() => note(id))).toBe(3);
    expect(await shown()).toEqual(['1 3 triggered']);
  });

  test('is four units for a new one of a cause that had been resolved, and one more where that was sent again', async () => {
    await note('first');
    await note('first ends', ENDED);
    expect(await writeUnits(() => note('second'))).toBe(4);
    await note('second again');
    await note('second ends', ENDED);
    expect(await writeUnits(() => note('third'))).toBe(5);
    expect(await shown()).toEqual(['3 1 triggered', '2 2 resolved', '1 1 resolved']);
  });

  test('is one transaction, with the note on the alert, for what ends it', async () => {
    // The first one of all makes the account that notes.
    await note('before', { fingerprint: 'other' });
    await note('before ends', { fingerprint: 'other', ...ENDED });
    await note('first');
    expect(await writeUnits(() => note('end', ENDED))).toBe(17);
  });
});

describe('a message that comes again', () => {
  const deaths = [0, 1, 2].flatMap((dies) =>
    (['before', 'after'] as const).map((when) => [dies, when] as const),
  );

  test.each(deaths)('makes one alert where a worker died at write %i, %s it', async (dies, when) => {
    const dying = mortal(opened.store.table, dies, when);
    await expect(note('first', {}, dying)).rejects.toThrow(Died);
    await note('first');
    await note('first');
    expect(await shown()).toEqual([expect.stringMatching(/^\d 1 triggered$/)]);
  });

  test('makes one alert where another one of its cause came after its worker died', async () => {
    await expect(note('first', {}, mortal(opened.store.table, 1, 'after'))).rejects.toThrow(Died);
    await note('second');
    await note('first', { title: 'The first' });
    expect(await shown()).toEqual(['1 2 triggered']);
    expect((await alerts())[0]!.title).toBe('The first');
  });

  test.each(
    [0, 1, 2, 3, 4].flatMap((dies) => (['before', 'after'] as const).map((when) => [dies, when] as const)),
  )(
    'makes one alert of a cause that had been resolved where a worker died at write %i, %s it',
    async (dies, when) => {
      await note('first');
      await note('first again');
      await note('first ends', ENDED);
      await expect(note('second', {}, mortal(opened.store.table, dies, when))).rejects.toThrow(Died);
      await note('second');
      await note('second again');
      for (const id of ['first', 'first again', 'second', 'second again']) await note(id);
      await note('first ends', ENDED);
      expect(await shown()).toEqual([expect.stringMatching(/^\d 2 triggered$/), '1 2 resolved']);
    },
  );

  test('makes and counts nothing more when its alert is resolved, or another one of its cause is open', async () => {
    await note('first');
    await note('again');
    await note('end', ENDED);
    const all = async () => {
      await note('first');
      await note('again');
      await note('end', ENDED);
    };
    await all();
    expect(await shown()).toEqual(['1 2 resolved']);
    await note('second');
    await all();
    expect(await shown()).toEqual(['2 1 triggered', '1 2 resolved']);
  });

  test('is worked on once where workers have it at once, beside others', async () => {
    const ids = Array.from({ length: 6 }, (_, i) => `m${i}`);
    await Promise.all(ids.flatMap((id) => [note(id), note(id), note(id)]));
    expect((await alerts()).map(({ events, status }) => ({ events, status }))).toEqual([
      { events: 6, status: 'triggered' },
    ]);
  });
});

describe('an alert', () => {
  test('whose project is deleted while a worker has it leaves no row', async () => {
    const { table } = opened.store;
    const begun = new Proxy(table, {
      get(target, name) {
        if (name !== 'put') return (Reflect.get(target, name, target) as () => unknown).bind(target);
        return async (...args: Parameters<Table['put']>) => {
          await opened.store.projects.remove(project, { now: new Date() }).catch(() => undefined);
          await target.put(...args);
        };
      },
    });
    await note('late', {}, begun);
    expect(await rows()).toEqual([]);
    await note('later');
    await note('over', ENDED);
    expect(await rows()).toEqual([]);
  });

  test('that is opened again counts on, also where its cause has led to another', async () => {
    const change = async (iid: number, status: 'triggered' | 'resolved') => {
      const alert = (await opened.store.alerts.get(project.id, iid))!;
      await opened.store.alerts.change(alert, { status }, new Date(AT), [], []);
    };
    await note('first');
    await note('first again');
    await change(1, 'resolved');
    await change(1, 'triggered');
    await note('first once more');
    expect(await shown()).toEqual(['1 3 triggered']);
    await change(1, 'resolved');
    await note('second');
    await note('second again');
    await expect(change(1, 'triggered')).rejects.toThrow();
    await change(2, 'resolved');
    await change(1, 'triggered');
    await note('first at last');
    expect(await shown()).toEqual(['2 2 resolved', '1 4 triggered']);
  });

  test('of an earlier release is shown, counted, resolved and opened again', async () => {
    const { table } = opened.store;
    const { createHash } = await import('node:crypto');
    const fingerprint = createHash('sha1').update('disk').digest('hex');
    const payload = JSON.stringify({ title: 'Former', fingerprint: 'disk' });
    const alert = {
      ...{ iid: 1, projectId: project.id, integrationId: 1, status: 'triggered', events: 1, fingerprint },
      ...{ title: 'Former', description: null, service: 'files', monitoringTool: null, hosts: ['a'] },
      ...{ severity: 'low', environment: null, startedAt: AT, endedAt: null, createdAt: AT, updatedAt: AT },
    };
    await table.put({ put: { ...alertKey(project.id, 1), ...alert, sent: deflateSync(payload) } });
    await table.put({ put: { ...alertTallyKey(project.id, 1), more: 2, lastAt: AT } });
    await table.put({ put: { ...alertCauseKey(project.id, fingerprint), iid: 1 } });
    await table.put({ put: { ...alertCountKey(project.id), iid: 1 } });
    expect((await alerts())[0]).toMatchObject({ title: 'Former', service: 'files', hosts: ['a'], events: 3 });
    expect(await opened.store.alerts.payload(project.id, 1)).toBe(payload);
    await note('again');
    await note('end', ENDED);
    await note('second');
    expect(await shown()).toEqual(['2 1 triggered', '1 4 resolved']);
    await note('second ends', ENDED);
    const former = (await opened.store.alerts.get(project.id, 1))!;
    await opened.store.alerts.change(former, { status: 'triggered' }, new Date(AT), [], []);
    await note('once more');
    expect(await shown()).toEqual(['2 1 resolved', '1 5 triggered']);
  });
});
