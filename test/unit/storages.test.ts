import { expect, test } from 'vitest';
import { storageOf, storagePrefix } from '../../lib/records/storages.ts';
import { parseStorages, readStorages } from '../../lib/store/blobs/storages.ts';

test('default is the instance’s own bucket, whatever else is configured', () => {
  expect(readStorages('', 'own')).toEqual({ default: { bucket: 'own', prefix: '' } });
  expect(readStorages('cold=frozen, eu=shared/lemnos/eu/,part=own/storages/part', 'own')).toEqual({
    default: { bucket: 'own', prefix: '' },
    cold: { bucket: 'frozen', prefix: '' },
    eu: { bucket: 'shared', prefix: 'lemnos/eu/' },
    part: { bucket: 'own', prefix: 'storages/part/' },
  });
});

test.each([
  ['default=other', 'exists already'],
  ['cold=one,cold=two', 'exists already'],
  ['a b=bucket', 'a name has letters'],
  ['cold=UPPER', 'not a bucket'],
  ['cold=bucket=more', 'not a bucket'],
  ['cold=bucket/a//b', 'not a path'],
  ['cold=own', 'in this bucket the path begins with storages/'],
  ['cold=own/networks', 'in this bucket the path begins with storages/'],
  ['cold=shared/a,warm=shared/a/b', 'have the same place'],
  ['cold=shared,warm=shared/a', 'have the same place'],
  ['cold', 'has no bucket'],
])('%s is refused', (text, problem) => {
  expect(() => readStorages(text, 'own')).toThrow(problem);
});

test('a name alone leaves the bucket to the deployment', () => {
  expect(parseStorages('cold,eu=shared/eu')).toEqual([
    { name: 'cold', bucket: undefined, prefix: '' },
    { name: 'eu', bucket: 'shared', prefix: 'eu/' },
  ]);
});

test('keys tell their storage, and those of each move are others', () => {
  expect(storagePrefix('default')).toBe('');
  expect(storagePrefix('cold')).toBe('@cold/');
  expect(storagePrefix('default', 'm1')).toBe('@default/m1/');
  for (const [name, move] of [
    ['default', undefined],
    ['cold', undefined],
    ['default', 'm1'],
    ['cold', 'm2'],
  ] as const)
    expect(storageOf(storagePrefix(name, move))).toBe(name);
});
