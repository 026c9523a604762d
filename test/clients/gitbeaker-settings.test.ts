import { Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../harness/service.ts';

/** Settings through an API client: shown, changed, refused, and seen in what is made then. */

let service: Service;

beforeAll(async () => {
  service = await startService({ background: false });
});
afterAll(() => service.stop());
const clientOf = (token: string) => new Gitlab({ host: service.url, token });

test('@gitbeaker/rest: settings are read and changed by administrators only', async () => {
  const root = clientOf(service.rootToken);
  const shown = await root.ApplicationSettings.show();
  expect(shown).toMatchObject({ id: 1, default_project_visibility: 'private', signup_enabled: true });
  const edited = await root.ApplicationSettings.edit({
    defaultProjectVisibility: 'internal',
    defaultBranchName: 'trunk',
    domainAllowlist: ['example.com'],
    restrictedVisibilityLevels: ['public'],
    archiveBuildsInHumanReadable: '15 days',
  });
  expect(edited).toMatchObject({
    default_project_visibility: 'internal',
    default_branch_name: 'trunk',
    domain_allowlist: ['example.com'],
    restricted_visibility_levels: ['public'],
    archive_builds_in_human_readable: '15 days',
  });
  expect(await root.ApplicationSettings.show()).toEqual(edited);

  const ada = clientOf((await service.user('ada')).token);
  const made = await ada.Projects.create({ name: 'Engine', initializeWithReadme: true });
  expect(made).toMatchObject({ visibility: 'internal', default_branch: 'trunk' });
  await expect(ada.Projects.create({ name: 'Open', visibility: 'public' })).rejects.toThrow(
    /restricted by your GitLab administrator/,
  );
  await expect(root.ApplicationSettings.edit({ minimumPasswordLength: 3 } as never)).rejects.toThrow(
    /greater than or equal to 8/,
  );
  await expect(ada.ApplicationSettings.show()).rejects.toMatchObject({
    cause: { response: { status: 403 } },
  });
});
