import { expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import type { LongText } from '../../../lib/records/texts.ts';
import { Missing } from '../../../lib/store/errors.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';

const { as, world } = ownWorld();

const LONG = 'a long line\n'.repeat(4_000);

/** What waits in the outbox is sent as if it were so many minutes later. */
async function later(minutes: number): Promise<void> {
  await deps().store.outbox.sweep(new Date(Date.now() + minutes * 60_000), 0);
  await settled();
}

test('a long text that is replaced stays for minutes, for those who read its row before, and then goes', async () => {
  const issues = `/projects/${world.ids['public']}/issues`;
  const { body } = await as('owner', 'POST', issues, { title: 'long', description: LONG });
  const address = { projectId: body.project_id, iid: body.iid };
  const before = (await world.store.issues.get(address))!.description as LongText;
  expect(before.blob).toMatch(/^texts\//);

  await as('owner', 'PUT', `${issues}/${body.iid}`, { description: `${LONG}and another` });
  await later(5);
  expect(await world.store.texts.read(before)).toBe(LONG);

  await later(15);
  await expect(world.store.texts.read(before)).rejects.toBeInstanceOf(Missing);
  expect((await as('owner', 'GET', `${issues}/${body.iid}`)).body.description).toBe(`${LONG}and another`);

  const after = (await world.store.issues.get(address))!.description as LongText;
  await as('owner', 'DELETE', `${issues}/${body.iid}`);
  await later(15);
  await expect(world.store.texts.read(after)).rejects.toBeInstanceOf(Missing);
});
