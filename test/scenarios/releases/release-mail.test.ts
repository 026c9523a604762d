/** Mail about new releases: for members who watch, or chose it, and may read the code. */
import { expect, test } from 'vitest';
import { settled } from '../../harness/settled.ts';
import { ownMail } from '../mail/mail-fixture.ts';

const { people, call, prefer, forget, mails } = ownMail(['ada', 'bob', 'cyd', 'dan', 'eve']);

test('members who watch, or chose it, are told of a new release; guests and strangers are not', async () => {
  const { id } = await call('ada', 'POST', '/projects', { name: 'house', visibility: 'private' });
  const project = `/projects/${id}`;
  await call('ada', 'POST', `${project}/repository/commits`, {
    branch: 'main',
    commit_message: 'first',
    actions: [{ action: 'create', file_path: 'a.txt', content: 'a' }],
  });
  for (const [name, access_level] of [
    ['bob', 20],
    ['cyd', 20],
    ['dan', 20],
    ['eve', 10],
  ] as const)
    await call('ada', 'POST', `${project}/members`, { user_id: people[name]!.id, access_level });
  await prefer('bob', project, { level: 'watch' });
  await prefer('cyd', project, { level: 'custom', new_release: true });
  await prefer('eve', project, { level: 'watch' });
  await settled();
  forget();
  const json = { tag_name: 'v1', ref: 'main', name: 'First', description: 'All new' };
  await call('ada', 'POST', `${project}/releases`, json);
  await settled();
  const sent = await mails();
  expect(Object.keys(sent).sort()).toEqual(['bob', 'cyd']);
  expect(sent['bob']![0]!.text).toContain(
    'A new release, First, was published for ada/house, with the tag v1.',
  );
  expect(sent['bob']![0]!.text).toContain('All new');
});
