/** Pushes to a repository that is garbage-collected or deleted meanwhile. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EMPTY_TREE, type Oid, ZERO_OID } from '../../../lib/git/oid.ts';
import { encodeCommit, hashObject } from '../../../lib/git/parse.ts';
import type { RefName } from '../../../lib/git/refname.ts';
import { FLUSH, PktReader, pkt } from '../../../lib/git/wire/pkt-line.ts';
import { receivePack } from '../../../lib/git/wire/receive-pack.ts';
import { closeRepository } from '../../../lib/store/repository/state.ts';
import { buildPack } from '../../harness/build-pack.ts';
import { type Ground, openYard, type Yard } from '../maintenance/maintenance-fixture.ts';

let yard: Yard;
beforeAll(async () => {
  yard = await openYard();
});
afterAll(() => yard[Symbol.asyncDispose]());

const dropped = 'refs/heads/dropped' as RefName;
const back = 'refs/heads/back' as RefName;
const person = { name: 'A', email: 'a@example.com', seconds: 1_700_000_000, timezone: '+0000' };

/** Three commits on the main branch, and two that no ref reaches any more. */
async function withLost(): Promise<{ ground: Ground; lost: Oid }> {
  const ground = await yard.repository();
  await ground.commits(3);
  await ground.git.createRef(dropped, (await ground.git.headRef()).head!.oid);
  const lost = await ground.commits(2, 'dropped');
  await ground.git.deleteRef(dropped, lost);
  return { ground, lost };
}

/**
 * Pushes a commit on top of `parent`, or `parent` itself without a pack.
 * @param between called when the push has been checked, before anything of it is stored
 */
async function push(
  ground: Ground,
  parent: Oid,
  options: { packless?: boolean; between?: () => Promise<unknown> } = {},
) {
  const data = encodeCommit({
    tree: EMPTY_TREE,
    parents: [parent],
    author: person,
    committer: person,
    message: 'p\n',
  });
  const made =
    options.packless === true ? [] : [{ type: 'commit' as const, data, oid: hashObject('commit', data) }];
  const to = made[0]?.oid ?? parent;
  const { content } = buildPack(made);
  if (content.kind !== 'bytes') throw new Error('expected bytes');
  async function* body() {
    yield pkt(`${ZERO_OID} ${to} ${back}\0report-status`);
    yield FLUSH;
    yield content.kind === 'bytes' ? content.pack : FLUSH;
  }
  const failures: unknown[] = [];
  const { body: answer, outcome } = receivePack(ground.open(), new PktReader(body()), {
    limits: { maxRequestBytes: 2 ** 20 },
    onError: (cause) => failures.push(cause),
    authorize: async () => {
      await options.between?.();
      return undefined;
    },
  });
  for await (const _ of answer) {
    // The report.
  }
  expect(failures).toEqual([]);
  return outcome;
}

describe.each([false, true])(
  'a push that needs objects of a pack of garbage (without a pack of its own: %s)',
  (packless) => {
    test.each(['before', 'while it is judged', 'while the collection runs', 'after'])(
      'a collection comes: %s',
      async (when) => {
        const { ground, lost } = await withLost();
        if (when === 'before') await ground.collect();
        const between = when === 'while it is judged' ? () => ground.collect() : async () => {};
        const doPush = () => push(ground, lost, { packless, between });
        let pushed: Awaited<ReturnType<typeof push>> | undefined;
        if (when === 'while the collection runs') {
          await ground.collect(new Date(), {
            swap: async () => {
              pushed = await doPush();
            },
          });
        } else pushed = await doPush();
        expect(pushed!.rejected).toEqual([]);
        expect(pushed!.updated.map(({ name }) => name)).toEqual([back]);
        if (when === 'after') await ground.collect();
        await ground.staysReadable();
        expect(await ground.readAll()).toContain(lost);
      },
    );
  },
);

test('a push to a repository that is deleted meanwhile is refused and leaves nothing', async () => {
  const { ground, lost } = await withLost();
  await ground.collect();
  const before = await ground.keys();
  const close = () => yard.store.table.transact(closeRepository(ground.id));
  const { rejected, pack } = await push(ground, lost, { between: close });
  expect(rejected).toEqual([{ name: back, reason: 'repository is being deleted' }]);
  expect(pack).toBeUndefined();
  expect(await ground.keys()).toEqual(before);
});
