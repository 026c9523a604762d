/** scim2-tester, which reads the schemas and tries all they say: https://scim2-tester.readthedocs.io */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from '../deploy/process.ts';
import { pythonWith } from '../deploy/python.ts';
import { scimGroup } from '../harness/scim.ts';
import { type Service, startService } from '../harness/service.ts';

const files = join(import.meta.dirname, 'scim-tester');

interface Result {
  readonly status: 'SUCCESS' | 'ERROR' | 'SKIPPED';
  readonly title: string;
  readonly reason: string;
}

let service: Service;
let python: string | undefined;
beforeAll(async () => {
  service = await startService();
  python = await pythonWith(join(files, 'requirements.txt'), 'scim-tester').catch((error: unknown) => {
    process.stderr.write(`scim2-tester cannot be installed: ${error}\n`);
    return undefined;
  });
}, 300_000);
afterAll(() => service.stop());

test('every check of scim2-tester succeeds', async (context) => {
  if (python === undefined) return context.skip('it needs Python 3.10 and its package index once');
  const owner = await service.user('owner');
  const { path, token } = await scimGroup(service, owner.token, 'tested');
  const url = `${service.url}/api/scim/v2/groups/${path}`;
  const { stdout } = await run(python, [join(files, 'run.py'), url, token]);
  const results = JSON.parse(stdout) as readonly Result[];
  expect(results.filter((result) => result.status !== 'SUCCESS' && !isPrimary(result))).toEqual([]);
  const tried = new Set(results.map(({ title }) => title));
  for (const title of [
    'object_creation',
    'object_replacement',
    'check_remove_attribute',
    'search_with_attributes',
  ])
    expect(tried).toContain(title);
});

/** The one address that is kept is the primary one, also where it was said not to be. */
function isPrimary({ title, reason }: Result): boolean {
  const [, sent, told] = /\nPatched value: (.*)\nReturned value: (.*)$/.exec(reason) ?? [];
  return title === 'check_replace_attribute' && sent?.replace('primary=False', 'primary=True') === told;
}
