/** What finding the recipients of a comment reads, in read units of the table. */
import { expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { sendNotification } from '../../../lib/domain/notifications/send.ts';
import { forgetEverything } from '../../harness/aws-calls.ts';
import { doneAs } from '../../harness/done.ts';
import { ownService } from '../../harness/own-service.ts';
import { storeOf } from '../../harness/world.ts';
import { newUser } from '../../store/table/store-fixture.ts';

const service = ownService({ background: false });

test('the recipients of a comment cost as much among 40 members as among 2, if none of them watches', async () => {
  const author = await service.user('author');
  const done = async (method: string, path: string, json?: unknown) =>
    (await doneAs(service, author.token, method, path, json)).body;
  const units: number[] = [];
  for (const members of [2, 40]) {
    const name = `of-${members}`;
    const { id } = await done('POST', '/projects', { name, initialize_with_readme: true });
    const source = { kind: 'project', id } as const;
    const terms = {
      accessLevel: 20,
      createdAt: new Date().toISOString(),
      expiresAt: null,
      createdById: null,
    } as const;
    const join = async (_: unknown, i: number) => {
      const { id: userId } = await storeOf().users.create(newUser(`${name}-${i}`));
      await storeOf().members.add({ source, userId, ...terms });
    };
    await Promise.all(Array.from({ length: members }, join));
    const [{ id: commit }] = await done('GET', `/projects/${id}/repository/commits`);
    await done('POST', `/projects/${id}/repository/commits/${commit}/comments`, { note: 'Look' });
    const page = { page: 1, perPage: 1, count: false };
    const { items } = await storeOf().notes.list(id, { kind: 'commit', id: commit }, page);
    const happening = { kind: 'note', projectId: id, commit, noteId: items[0]!.id } as const;
    const notification = { actorId: author.id, baseUrl: service.url, happening };
    forgetEverything();
    let read = 0;
    service.host.dynamo.onOperation = ({ readUnits }) => {
      read += readUnits;
    };
    await sendNotification(deps(), name, notification, Number.MAX_VALUE);
    service.host.dynamo.onOperation = undefined;
    units.push(read);
  }
  // The page of members itself is one unit more.
  expect(units[1]).toBeLessThanOrEqual(units[0]! + 2);
});
