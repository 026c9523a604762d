/** Files whose names are not UTF-8, as older systems made them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { type Pushed, pushedProject } from '../repository/pushed-project.ts';

const { as, service, world } = ownWorld();
let pushed: Pushed;
beforeAll(async () => {
  const owner = { username: 'owner', token: world.tokens.owner! };
  pushed = await pushedProject(service, owner, 'latin', (git) => {
    const file = (path: string, text: string) => `M 100644 inline ${path}\ndata ${text.length}\n${text}\n`;
    const files = file('"caf\\351"', 'one\n') + file('"d\\344r/b"', 'two\n') + file('caf', 'three\n');
    const stream = `commit refs/heads/main\ncommitter C <c@e> 1700000000 +0000\ndata 1\nm\n${files}`;
    git.feed(stream, 'fast-import', '--quiet');
  });
});
afterAll(() => pushed.git[Symbol.dispose]());

test('names that are no UTF-8 are listed, read, changed, moved and deleted by the text that stands for them', async () => {
  const at = `/projects/${pushed.id}/repository`;
  const tree = async (query = '') => {
    const { body } = await as('owner', 'GET', `${at}/tree?${query}`);
    return (body as { name: string; path: string }[]).map(({ path }) => path);
  };
  const listed = await tree();
  expect(listed.every((path) => path.isWellFormed())).toBe(true);
  expect(new Set(listed).size).toBe(3);
  const [folder, , name] = listed as [string, string, string];
  expect(await tree(`path=${encodeURIComponent(folder)}`)).toEqual([`${folder}/b`]);
  const file = (path: string, query = '') => `${at}/files/${encodeURIComponent(path)}${query}`;
  const { body } = await as('owner', 'GET', file(name, '?ref=main'));
  expect([body.file_path, Buffer.from(body.content, 'base64').toString()]).toEqual([name, 'one\n']);
  const raw = await as('owner', 'GET', file(name, '/raw?ref=main'));
  expect(raw.status).toBe(200);
  const blame = await as('owner', 'GET', file(`${folder}/b`, '/blame?ref=main'));
  expect(blame.body[0].lines).toEqual(['two']);
  const changed = await as('owner', 'PUT', file(name), {
    ...{ branch: 'main', commit_message: 'Change it', content: 'four\n' },
  });
  expect(changed).toMatchObject({ status: 200, body: { file_path: name } });
  const [last] = (await as('owner', 'GET', `${at}/commits?path=${encodeURIComponent(name)}`)).body;
  const { body: diff } = await as('owner', 'GET', `${at}/commits/${last.id}/diff`);
  expect(diff).toMatchObject([{ old_path: name, new_path: name }]);
  const actions = [
    { action: 'move', previous_path: `${folder}/b`, file_path: `${folder}/${name}` },
    { action: 'delete', file_path: name },
  ];
  const moved = await as('owner', 'POST', `${at}/commits`, {
    ...{ branch: 'main', commit_message: 'Move and delete', actions },
  });
  expect(moved.status, JSON.stringify(moved.body)).toBe(201);
  expect(await tree('recursive=true')).toEqual(['caf', folder, `${folder}/${name}`]);
  expect(
    (await as('owner', 'DELETE', file(`${folder}/${name}`), { branch: 'main', commit_message: 'x' })).status,
  ).toBe(204);
});
