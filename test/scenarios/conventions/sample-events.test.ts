import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../../harness/service.ts';

const event = (name: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../../../events', `${name}.json`), 'utf8')) as unknown;

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

test('the worker accepts the sample messages, also when their subject is deleted', async () => {
  expect(await service.host.invoke('maintenance', event('sqs-maintenance'))).toEqual({
    batchItemFailures: [],
  });
});

test('an unknown message fails alone, without the rest of its batch', async () => {
  const sample = event('sqs-maintenance') as { Records: { messageId: string; body: string }[] };
  const [good] = sample.Records;
  const Records = [good, { ...good, messageId: 'other', body: '{"type":"no such job"}' }];
  expect(await service.host.invoke('maintenance', { Records })).toEqual({
    batchItemFailures: [{ itemIdentifier: 'other' }],
  });
});

test('the sample schedule event sweeps the outbox', async () => {
  expect(await service.host.invoke('outbox-sweep', event('scheduled'))).toEqual({ sent: 0, more: false });
});

test('the sample first-administrator event finds the existing administrator', async () => {
  expect(await service.host.invoke('first-administrator', event('first-administrator'))).toEqual({
    username: 'root',
  });
});

test("the authorizer refuses the sample's credentials, and allows paths that Git does not serve", async () => {
  const sample = event('git-authorizer') as { path: string };
  await expect(service.host.invoke('git-authorizer', sample)).rejects.toThrow('Unauthorized');
  const page = { ...sample, path: '/group/name' };
  expect(await service.host.invoke('git-authorizer', page)).toMatchObject({
    policyDocument: { Statement: [{ Effect: 'Allow' }] },
  });
});
