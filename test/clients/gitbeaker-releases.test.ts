import { Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../harness/service.ts';

let service: Service;
let client: InstanceType<typeof Gitlab>;
let project: number;
beforeAll(async () => {
  service = await startService();
  const { token } = await service.user('ada');
  client = new Gitlab({ host: service.url, token }) as InstanceType<typeof Gitlab>;
  project = (await client.Projects.create({ name: 'thing', visibility: 'public' })).id;
  await client.RepositoryFiles.create(project, 'a.txt', 'main', 'one\n', 'Begin');
});
afterAll(() => service.stop());

test('@gitbeaker/rest: ProjectReleases and ReleaseLinks', async () => {
  const { ProjectReleases, ReleaseLinks, Tags } = client;
  const made = await ProjectReleases.create(project, {
    tag_name: 'v1',
    ref: 'main',
    name: 'First',
    description: 'Notes',
    assets: { links: [{ name: 'tool', url: 'https://example.com/tool' }] },
  });
  expect(made).toMatchObject({ tag_name: 'v1', name: 'First', assets: { count: 5 } });
  expect((await Tags.show(project, 'v1')).release).toEqual({ tag_name: 'v1', description: 'Notes' });
  expect(await ProjectReleases.edit(project, 'v1', { description: 'More' })).toMatchObject({
    description: 'More',
  });
  const link = await ReleaseLinks.create(project, 'v1', 'docs', 'https://example.com/docs');
  expect((await ReleaseLinks.all(project, 'v1')).map(({ name }) => name)).toEqual(['docs', 'tool']);
  expect(await ReleaseLinks.remove(project, 'v1', link.id)).toEqual(link);
  expect((await ProjectReleases.all(project)).map(({ name }) => name)).toEqual(['First']);
  await ProjectReleases.remove(project, 'v1');
  await expect(ProjectReleases.show(project, 'v1')).rejects.toMatchObject({
    cause: { description: '404 Not Found' },
  });
});

test('@gitbeaker/rest: Environments and Deployments', async () => {
  const { Environments, Deployments, Commits } = client;
  const [commit] = await Commits.all(project);
  const sha = String(commit!.id);
  const made = await Environments.create(project, 'prod', { externalUrl: 'https://example.com' });
  const deployment = await Deployments.create(project, 'prod', sha, 'main', false, { status: 'running' });
  expect(deployment).toMatchObject({ status: 'running', environment: { id: made.id } });
  await Deployments.edit(project, deployment.id, 'success');
  expect(await Environments.show(project, made.id)).toMatchObject({ last_deployment: { id: deployment.id } });
  expect((await Deployments.all(project, { environment: 'prod' })).map(({ id }) => id)).toEqual([
    deployment.id,
  ]);
  expect(await Environments.stop(project, made.id)).toMatchObject({ state: 'stopped' });
  await Environments.remove(project, made.id);
  expect(await Environments.all(project)).toEqual([]);
});
