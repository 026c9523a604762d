/** Unmodified clients of Sentry, pointed at the address of a client key. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../deploy/process.ts';
import { pythonWith } from '../deploy/python.ts';
import { ownService } from '../harness/own-service.ts';
import { settled } from '../harness/settled.ts';

const files = join(import.meta.dirname, 'sentry');
const service = ownService();

/** A project that collects errors: the address of its key, and its errors. */
async function collecting(name: string) {
  const { token } = await service.user(name);
  const done = async (method: string, path: string, json?: unknown) =>
    (await service.call(method, path, { token, ...(json === undefined ? {} : { json }) })).body;
  const { id } = await done('POST', '/projects', { name });
  const at = `/projects/${id}/error_tracking`;
  await done('PUT', `${at}/settings`, { active: true, integrated: true });
  const { sentry_dsn: dsn } = await done('POST', `${at}/client_keys`);
  return {
    dsn: dsn as string,
    errors: async () => {
      await settled();
      return done('GET', `${at}/errors?sort=asc`);
    },
    events: (errorId: number) => done('GET', `${at}/errors/${errorId}/events`),
  };
}

test('@sentry/node sends exceptions, messages and transactions', async () => {
  const project = await collecting('node');
  await run(process.execPath, [join(files, 'send.ts'), project.dsn]);
  const all = await project.errors();
  expect(all).toMatchObject([
    { name: 'RangeError', description: 'out of range', platform: 'node', count: 2, level: 'error' },
    { name: 'Hello from a program', count: 1, level: 'warning' },
  ]);
  expect(all[0].actor).toMatch(/^failing\(/);
  const events = await project.events(all[0].id);
  expect(events).toHaveLength(2);
  expect(events[0]).toMatchObject({ environment: 'tests', payload: { release: '1.2.3' } });
});

test('sentry-sdk of Python sends exceptions', { timeout: 300_000 }, async (context) => {
  const python = await pythonWith(join(files, 'requirements.txt'), 'sentry').catch((error: unknown) => {
    process.stderr.write(`sentry-sdk cannot be installed: ${error}\n`);
    return undefined;
  });
  if (python === undefined) return context.skip('it needs Python 3.10 and its package index once');
  const project = await collecting('python');
  await run(python, [join(files, 'send.py'), project.dsn]);
  const all = await project.errors();
  expect(all).toMatchObject([{ name: 'ValueError', description: 'no value', platform: 'python', count: 2 }]);
  expect(await project.events(all[0].id)).toMatchObject([{ environment: 'tests' }, { environment: 'tests' }]);
});
