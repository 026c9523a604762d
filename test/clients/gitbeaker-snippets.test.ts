/** Snippets as a client library uses them, and as git then sees their files. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../harness/service.ts';
import { GitCli, withToken } from './git-cli.ts';

const git = new GitCli();
let service: Service;
let token: string;
let ada: InstanceType<typeof Gitlab>;
beforeAll(async () => {
  service = await startService();
  token = (await service.user('ada')).token;
  ada = new Gitlab({ host: service.url, token });
});
afterAll(async () => {
  await service.stop();
  git[Symbol.dispose]();
});

const files = [{ filePath: 'a.txt', content: 'one\n' }];

test('a personal snippet is written, edited by git and by the library, and deleted', async () => {
  const { id } = await ada.Snippets.create('Notes', { visibility: 'public', files });
  const clone = await git.clone(withToken(service.url, `snippets/${id}`, token), 'personal');
  expect(readFileSync(join(clone, 'a.txt'), 'utf8')).toBe('one\n');
  writeFileSync(join(clone, 'b.txt'), 'two\n');
  await git.ok(clone, 'add', '.');
  await git.ok(clone, 'commit', '--quiet', '-m', 'Add');
  await git.ok(clone, 'push', '--quiet', 'origin', 'main');
  expect(await ada.Snippets.show(id)).toMatchObject({ title: 'Notes', file_name: 'a.txt' });
  await ada.Snippets.edit(id, {
    description: 'edited',
    files: [{ action: 'update', filePath: 'b.txt', content: 'three\n' }],
  });
  await git.ok(clone, 'pull', '--quiet');
  expect(readFileSync(join(clone, 'b.txt'), 'utf8')).toBe('three\n');
  expect((await ada.Snippets.all({ public: true })).map(({ title }) => title)).toEqual(['Notes']);
  await ada.Snippets.remove(id);
  await expect(ada.Snippets.show(id)).rejects.toThrow('404 Snippet Not Found');
});

test('a snippet of a project is written, noted, awarded and deleted', async () => {
  const project = await ada.Projects.create({ name: 'shelf' });
  const { id } = await ada.ProjectSnippets.create(project.id, 'Recipe', { visibility: 'private', files });
  expect((await ada.ProjectSnippets.all(project.id)).map(({ title }) => title)).toEqual(['Recipe']);
  expect(await ada.ProjectSnippets.showContent(project.id, id)).toBe('one\n');
  const note = await ada.ProjectSnippetNotes.create(project.id, id, 'Tasty');
  expect(note).toMatchObject({ body: 'Tasty', noteable_type: 'Snippet' });
  await ada.ProjectSnippetAwardEmojis.award(project.id, id, 'tada');
  expect(await ada.ProjectSnippetAwardEmojis.all(project.id, id)).toHaveLength(1);
  await ada.ProjectSnippets.edit(project.id, id, { description: 'edited' });
  await ada.ProjectSnippets.remove(project.id, id);
  expect(await ada.ProjectSnippets.all(project.id)).toEqual([]);
});
