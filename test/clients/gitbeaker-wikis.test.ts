/** Wikis as a client library uses them, and as git then sees their pages. */
import { readFileSync } from 'node:fs';
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

test('pages of a project are written, read, renamed and deleted', async () => {
  const { id } = await ada.Projects.create({ name: 'book' });
  const home = await ada.ProjectWikis.create(id, 'Welcome, all', 'Home', { format: 'markdown' });
  expect(home).toMatchObject({ slug: 'Home', format: 'markdown' });
  await ada.ProjectWikis.create(id, 'Steps', 'guide/First steps');
  expect((await ada.ProjectWikis.all(id)).map(({ slug }) => slug)).toEqual(['guide/First-steps', 'Home']);
  expect(await ada.ProjectWikis.show(id, 'guide/First-steps')).toMatchObject({ content: 'Steps' });
  await ada.ProjectWikis.edit(id, 'Home', { content: 'Welcome back' });
  await ada.ProjectWikis.edit(id, 'guide/First-steps', { title: 'Begin' });
  const clone = await git.clone(withToken(service.url, 'ada/book.wiki', token), 'book');
  expect(await git.lines(clone, 'ls-files')).toEqual(['Home.md', 'guide/Begin.md']);
  expect(readFileSync(join(clone, 'Home.md'), 'utf8')).toBe('Welcome back');
  await ada.ProjectWikis.remove(id, 'Home');
  await expect(ada.ProjectWikis.show(id, 'Home')).rejects.toThrow('404 Wiki Page Not Found');
  const uploaded = await ada.ProjectWikis.uploadAttachment(id, {
    content: new Blob(['bytes']),
    filename: 'plan.txt',
  });
  expect(uploaded).toMatchObject({ file_name: 'plan.txt', branch: 'main' });
});

test('a group has a wiki of its own', async () => {
  const { id } = await ada.Groups.create('Team', 'team');
  await ada.GroupWikis.create(id, 'We meet on Mondays', 'Rules');
  expect(await ada.GroupWikis.show(id, 'Rules')).toMatchObject({
    title: 'Rules',
    content: 'We meet on Mondays',
  });
  const clone = await git.clone(withToken(service.url, 'team.wiki', token), 'team');
  expect(await git.lines(clone, 'ls-files')).toEqual(['Rules.md']);
  await ada.GroupWikis.remove(id, 'Rules');
  expect(await ada.GroupWikis.all(id)).toEqual([]);
});
