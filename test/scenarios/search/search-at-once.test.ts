/** A search finds what was created by the request before it: no worker runs here. */
import { expect, test } from 'vitest';
import { doneAs } from '../../harness/done.ts';
import { ownService } from '../../harness/own-service.ts';

const service = ownService({ background: false });

test.each([
  ['projects', '/projects', 'name'],
  ['groups', '/groups', 'name'],
  ['users', '/users', 'username'],
])('a search of %s finds what was just created, by any part of its name', async (scope, path, field) => {
  const name = `quagga-${scope}`;
  const email = `${name}@example.com`;
  const json = { name, path: name, username: name, email, force_random_password: true };
  await doneAs(service, service.rootToken, 'POST', path, json);
  for (const part of ['quagga', 'UAG', `a-${scope}`, 'q', 'qu']) {
    const query = `scope=${scope}&search=${encodeURIComponent(part)}`;
    const found = (await doneAs(service, service.rootToken, 'GET', `/search?${query}`)).body;
    expect(
      found.map((one: Record<string, string>) => one[field]),
      part,
    ).toEqual([name]);
  }
  const listed = (await doneAs(service, service.rootToken, 'GET', `${path}?search=quagga`)).body;
  expect(listed.map((one: Record<string, string>) => one[field])).toEqual([name]);
});

test('a name of very many trigrams is left to the worker', async () => {
  const name = Array.from({ length: 80 }, (_, i) => String.fromCodePoint(0x4e00 + 3 * i)).join('');
  const made = await doneAs(service, service.rootToken, 'POST', '/projects', { name, path: 'very-many' });
  expect(made.status).toBe(201);
  const found = (await doneAs(service, service.rootToken, 'GET', '/search?scope=projects&search=very-many'))
    .body;
  expect(found).toEqual([]);
});
