import { beforeAll, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { openRepository, type Together } from '../../../lib/domain/repository/open.ts';
import { publish } from '../../../lib/git/commit-changes.ts';
import { EMPTY_TREE, type Oid, ZERO_OID } from '../../../lib/git/oid.ts';
import { encodeCommit, hashObject } from '../../../lib/git/parse.ts';
import { RefConflict } from '../../../lib/git/ports.ts';
import type { RefName } from '../../../lib/git/refname.ts';
import type { ProjectRecord } from '../../../lib/records/projects.ts';
import { TransactionRefused } from '../../../lib/store/errors.ts';
import { messageAt } from '../../../lib/store/outbox/outbox.ts';
import { outboxKey } from '../../../lib/store/row-keys/outbox.ts';
import { ABSENT } from '../../../lib/store/table/write.ts';
import { ownService } from '../../harness/own-service.ts';
import { storeOf } from '../../harness/world.ts';

const service = ownService();
const MAIN = 'refs/heads/main' as RefName;
const SIDE = 'refs/heads/side' as RefName;
const committer = { name: 'Ann', email: 'ann@example.com', seconds: 1_700_000_000, timezone: '+0000' };
let project: ProjectRecord;
let tip: Oid;

/** A commit that no repository has. */
function commit(message: string) {
  const parents = tip === undefined ? [] : [tip];
  const data = encodeCommit({ tree: EMPTY_TREE, parents, author: committer, committer, message });
  return { type: 'commit' as const, oid: hashObject('commit', data), data };
}

const branches = async () =>
  Object.fromEntries(
    (await openRepository(deps(), project).refs.all()).refs.map(({ name, oid }) => [name, oid]),
  );

const packs = () => openRepository(deps(), project).objects.listPacks({ fresh: true });

/** A row that can be written once, and a message that stays in the outbox: it has no queue. */
function companions(name: string) {
  const key = { pk: `TOGETHER#${project.id}`, sk: name };
  const promised = messageAt('no queue', 'none', { name }, new Date('2100-01-01'));
  const together: Together = {
    writes: [{ put: { ...key, name }, if: ABSENT, reason: 'once' }],
    messages: [promised],
  };
  const written = async () => {
    const { table } = storeOf();
    const rows = await Promise.all([table.get(key), table.get(outboxKey(promised.id))]);
    return rows.map((row) => row !== undefined);
  };
  return { together, written };
}

beforeAll(async () => {
  const owner = await service.user('ann');
  const json = { name: 'together', initialize_with_readme: true };
  const { body } = await service.call('POST', '/projects', { token: owner.token, json });
  project = (await storeOf().projects.get(body.id))!;
  tip = (await branches())[MAIN]!;
});

test('refs, the writes beside them and messages become visible together', async () => {
  const { together, written } = companions('all');
  const made = commit('Together');
  const repository = openRepository(deps(), project).together(together);
  const main = { name: MAIN, from: tip, to: made.oid };
  await publish(repository, [made], [main, { name: SIDE, from: ZERO_OID, to: tip }]);
  expect(await branches()).toMatchObject({ [MAIN]: made.oid, [SIDE]: tip });
  expect(await written()).toEqual([true, true]);
  tip = made.oid;
});

test('a write that is refused refuses the refs, is told as it is, and leaves no pack', async () => {
  const { together } = companions('once');
  await storeOf().table.transact(together.writes);
  const [before, listed] = [await branches(), await packs()];
  const stored: string[] = [];
  const repository = openRepository(deps(), project).together(together);
  const { newPack, rollbackPack } = repository.objects;
  const rolledBack: string[] = [];
  Object.assign(repository.objects, {
    newPack: async (...given: Parameters<typeof newPack>) => {
      const pack = await newPack.apply(repository.objects, given);
      stored.push(pack.id);
      return pack;
    },
    rollbackPack: (pack: Parameters<typeof rollbackPack>[0]) => {
      rolledBack.push(pack.id);
      return rollbackPack.call(repository.objects, pack);
    },
  });
  const made = commit('Refused');
  const error = await publish(repository, [made], [{ name: MAIN, from: tip, to: made.oid }]).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(TransactionRefused);
  expect((error as TransactionRefused).get('once')?.item).toMatchObject({ name: 'once' });
  expect(await branches()).toEqual(before);
  expect(await packs()).toEqual(listed);
  expect(stored).toHaveLength(1);
  expect(rolledBack).toEqual(stored);
});

test('a ref that moved refuses the writes beside it', async () => {
  const { together, written } = companions('moved');
  const made = commit('Late');
  const stale = { name: MAIN, from: made.oid, to: made.oid };
  await expect(publish(openRepository(deps(), project).together(together), [made], [stale])).rejects.toThrow(
    RefConflict,
  );
  expect(await written()).toEqual([false, false]);
});

test('of two that move different refs with one condition, one wins', async () => {
  const race = companions('race');
  const moves = ['a', 'b'].map((name) => {
    const made = commit(name);
    const update = { name: `refs/heads/${name}` as RefName, from: ZERO_OID, to: made.oid };
    return publish(openRepository(deps(), project).together(race.together), [made], [update]);
  });
  const outcomes = await Promise.allSettled(moves);
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  const losers = outcomes.filter((one) => one.status === 'rejected');
  expect(losers.map(({ reason }) => (reason as TransactionRefused).has('once'))).toEqual([true]);
  expect(Object.keys(await branches()).filter((name) => /\/[ab]$/.test(name))).toHaveLength(1);
});
