import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import type { Who } from '../../harness/world.ts';
import { type Pushed, pushedProject } from '../repository/pushed-project.ts';

const { service, world, as } = ownWorld();
let story: Pushed;
let at: string;
beforeAll(async () => {
  story = await pushedProject(service, { username: 'owner', token: world.tokens.owner! }, 'tags', (git) =>
    git.feed(
      'commit refs/heads/main\ncommitter C <c@example.com> 1600000000 +0000\ndata 1\n1\nM 100644 inline a\ndata 2\na\n',
      'fast-import',
      '--quiet',
    ),
  );
  at = `/projects/${story.id}/repository`;
  const reporter = { user_id: world.ids.reporter, access_level: 20 };
  expect((await as('owner', 'POST', `/projects/${story.id}/members`, reporter)).status).toBe(201);
});
afterAll(() => story.git[Symbol.dispose]());

const say = (who: Who, note: string) => as(who, 'POST', `${at}/commits/main/comments`, { note });
const tag = async (name: string) => (await as('owner', 'GET', `${at}/tags/${name}`)).body;
const notes = async () => {
  const { body } = await as('owner', 'GET', `${at}/commits/main/discussions`);
  return body.flatMap((each: { notes: { body: string; system: boolean }[] }) =>
    each.notes.map((note) => `${note.system ? 'system: ' : ''}${note.body}`),
  );
};

test('/tag pins a commit that nothing pinned before, whichever rows guard the repository then', async () => {
  // The first row of those that one is chosen from by chance.
  const chance = vi.spyOn(Math, 'random').mockReturnValue(0);
  try {
    expect((await say('owner', '/tag first')).status).toBe(202);
  } finally {
    chance.mockRestore();
  }
});

test('/tag in a comment on a commit tags it, and is noted there', async () => {
  const oid = story.git.oid('main');
  const { status, body } = await say('owner', '/tag v1.0 The  first');
  expect([status, body]).toEqual([
    202,
    {
      summary: ['Tagged this commit to v1.0 with "The  first".'],
      commands_changes: { tag_name: 'v1.0', tag_message: 'The  first' },
    },
  ]);
  expect(await tag('v1.0')).toMatchObject({ message: 'The  first', commit: { id: oid } });
  expect((await notes()).slice(1)).toEqual([
    `system: tagged commit ${oid} to [\`v1.0\`](/owner/tags/-/tags/v1.0)`,
  ]);
  const started = await as('owner', 'POST', `${at}/commits/main/discussions`, { body: 'Good.\n/tag v1.1' });
  expect([started.status, started.body.notes[0].body]).toEqual([201, 'Good.']);
  expect(await tag('v1.1')).toMatchObject({ message: null, target: oid });
});

test('/tag says why it could not tag, and needs the right to push', async () => {
  await say('owner', '/tag twice');
  const summaries = async (who: Who, note: string) => {
    const { status, body } = await say(who, note);
    return [status, ...body.summary];
  };
  expect(await summaries('owner', '/tag twice')).toEqual([
    202,
    'Failed to tag this commit: Tag twice already exists.',
  ]);
  expect(await summaries('owner', '/tag a..b')).toEqual([
    202,
    'Failed to tag this commit: Tag name invalid.',
  ]);
  expect(await summaries('reporter', '/tag mine')).toEqual([202, 'Could not apply tag command.']);
  expect((await tag('mine')).message).toBe('404 Tag Not Found');
  const protecting = { name: 'held*', create_access_level: 0 };
  expect((await as('owner', 'POST', `/projects/${story.id}/protected_tags`, protecting)).status).toBe(201);
  expect((await summaries('owner', '/tag held'))[1]).toMatch(/^Failed to tag this commit: /);
  expect((await tag('held')).message).toBe('404 Tag Not Found');
});

test('a comment keeps lines that only look like /tag', async () => {
  const note = '`\n/tag one\n`\n/tags two\n/close';
  const { status, body } = await say('owner', note);
  expect([status, body.note]).toEqual([201, note]);
});
