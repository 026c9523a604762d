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

test('@gitbeaker/rest: ProtectedBranches and ProtectedTags', async () => {
  const { ProtectedBranches, ProtectedTags, Branches } = client;
  const made = await ProtectedBranches.protect(project, 'release/*', {
    pushAccessLevel: 30,
    allowForcePush: true,
  });
  expect(made).toMatchObject({ name: 'release/*', allow_force_push: true });
  expect(await ProtectedBranches.show(project, 'release/*')).toEqual(made);
  await expect(ProtectedBranches.protect(project, 'release/*')).rejects.toMatchObject({
    cause: { description: "Protected branch 'release/*' already exists" },
  });
  expect((await ProtectedBranches.all(project)).map(({ name }) => name)).toEqual(['main', 'release/*']);
  expect(await ProtectedBranches.all(project, { search: 'rel' })).toEqual([made]);
  expect(await Branches.create(project, 'release/1', 'main')).toMatchObject({
    protected: true,
    developers_can_push: true,
  });
  await ProtectedBranches.unprotect(project, 'release/*');
  await expect(ProtectedBranches.show(project, 'release/*')).rejects.toMatchObject({
    cause: { description: '404 Not found' },
  });

  expect(await ProtectedTags.protect(project, 'v*', { createAccessLevel: 0 })).toMatchObject({ name: 'v*' });
  await expect(client.Tags.create(project, 'v1', 'main')).rejects.toMatchObject({
    cause: { description: 'You are not allowed to create this tag as it is protected.' },
  });
  await ProtectedTags.unprotect(project, 'v*');
  expect(await client.Tags.create(project, 'v1', 'main')).toMatchObject({ protected: false });
  expect(await ProtectedTags.all(project)).toEqual([]);
});

test('@gitbeaker/rest: Commits’ diff, cherry-pick and revert, and Repositories’ compare', async () => {
  const { Commits, Repositories, RepositoryFiles } = client;
  await RepositoryFiles.edit(project, 'a.txt', 'topic', 'two\n', 'Change', { startBranch: 'main' });
  const [change] = await Commits.all(project, { refName: 'topic', perPage: 1 });
  expect(await Commits.showDiff(project, change!.id)).toMatchObject([
    { old_path: 'a.txt', new_path: 'a.txt', diff: '@@ -1 +1 @@\n-one\n+two\n' },
  ]);
  const compared = await Repositories.compare(project, 'main', 'topic', { straight: true });
  expect(compared).toMatchObject({ commits: [{ id: change!.id }], diffs: [{ new_path: 'a.txt' }] });
  const picked = await Commits.cherryPick(project, change!.id, 'main', { dryRun: true });
  expect(picked).toEqual({ dry_run: 'success' });
  expect(await Commits.cherryPick(project, change!.id, 'main')).toMatchObject({ title: 'Change' });
  expect(await Commits.revert(project, change!.id, 'main')).toMatchObject({ title: 'Revert "Change"' });
  await expect(Commits.revert(project, change!.id, 'main')).rejects.toMatchObject({
    cause: { response: { status: 400 } },
  });
});
