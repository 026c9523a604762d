import { Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../harness/service.ts';

let service: Service;
let client: InstanceType<typeof Gitlab>;
let project: number;
let sha: string;
beforeAll(async () => {
  service = await startService();
  const { token } = await service.user('ada');
  client = new Gitlab({ host: service.url, token }) as InstanceType<typeof Gitlab>;
  project = (await client.Projects.create({ name: 'thing', visibility: 'public' })).id;
  const begin = await client.Commits.create(project, 'main', 'Begin', [
    { action: 'create', filePath: 'a', content: 'one\n' },
  ]);
  await client.Tags.create(project, 'v1.0.0', begin.id);
  const message = 'Say two\n\nChangelog: added\n';
  sha = (
    await client.Commits.create(project, 'main', message, [
      { action: 'update', filePath: 'a', content: 'two\n' },
    ])
  ).id;
});
afterAll(() => service.stop());

test('@gitbeaker/rest: comments of Commits', async () => {
  const whole = await client.Commits.createComment(project, sha, 'Nice');
  expect(whole).toMatchObject({ note: 'Nice', path: null, author: { username: 'ada' } });
  const inline = await client.Commits.createComment(project, sha, 'Here', {
    path: 'a',
    line: 1,
    lineType: 'old',
  });
  expect(inline).toMatchObject({ note: 'Here', path: 'a', line: 1, line_type: 'old' });
  expect(await client.Commits.allComments(project, sha)).toEqual([whole, inline]);
  await expect(client.Commits.createComment(project, sha, ' ')).rejects.toMatchObject({
    cause: { description: `Failed to save note {:note=>["can't be blank"]}` },
  });
});

test('@gitbeaker/rest: statuses of Commits', async () => {
  const running = await client.Commits.editStatus(project, sha, 'running', {
    context: 'build',
    targetUrl: 'https://ci.example.com/1',
    coverage: 50.5,
  });
  expect(running).toMatchObject({ name: 'build', ref: 'main', status: 'running', coverage: 50.5 });
  await expect(client.Commits.editStatus(project, sha, 'running', { context: 'build' })).rejects.toThrow(
    /^Cannot transition status via :run from :running/,
  );
  const ended = await client.Commits.editStatus(project, sha, 'success', { context: 'build' });
  expect(ended.id).toBe(running.id);
  await client.Commits.editStatus(project, sha, 'failed', { name: 'lint' });
  const all = await client.Commits.allStatuses(project, sha, { perPage: 1 } as never);
  expect(all.map(({ name, status }) => [name, status])).toEqual([
    ['build', 'success'],
    ['lint', 'failed'],
  ]);
  const commit = await client.Commits.show(project, sha);
  expect(commit).toMatchObject({ status: 'failed', last_pipeline: { sha, ref: 'main', status: 'failed' } });
});

test('@gitbeaker/rest: changelogs of Repositories', async () => {
  const options = { date: '2021-01-05' };
  const section = `## 1.1.0 (2021-01-05)

### added (1 change)

- [Say two](${service.url}/ada/thing/-/commit/${sha})
`;
  expect(await client.Repositories.showChangelog(project, '1.1.0', options)).toEqual({ notes: section });
  await client.Repositories.editChangelog(project, '1.1.0', options);
  expect(await client.RepositoryFiles.showRaw(project, 'CHANGELOG.md', 'main')).toBe(section);
  await expect(client.Repositories.showChangelog(project, '1.0.0')).rejects.toMatchObject({
    cause: {
      description: expect.stringMatching(/^Failed to generate the changelog: The commit start range/),
    },
  });
});
