/** A search finds what was created or renamed by the request before it: no worker runs here. */
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

test.each([
  ['projects', '/projects', 'name'],
  ['groups', '/groups', 'name'],
  ['users', '/users', 'username'],
])('a search of %s finds what was just renamed, by its new name alone', async (scope, path, field) => {
  const [before, between, name] = [`before-${scope}`, `between-${scope}`, `zebra-${scope}`];
  const email = `${before}@example.com`;
  const json = { name: before, path: before, username: before, email, force_random_password: true };
  const { body } = await doneAs(service, service.rootToken, 'POST', path, json);
  const rename = (to: string) =>
    doneAs(service, service.rootToken, 'PUT', `${path}/${body.id}`, { name: to, username: to, path: to });
  const found = async (term: string) => {
    // Lists use the same rows, and have no limit of searches.
    const answer = await doneAs(service, service.rootToken, 'GET', `${path}?search=${term}`);
    return answer.body.map((one: Record<string, string>) => one[field]);
  };
  // A group moves when its path changes, which needs a worker: it is renamed once.
  if (scope !== 'groups') expect((await rename(between)).status).toBe(200);
  expect((await rename(name)).status).toBe(200);
  for (const part of ['zebra', 'EBR', `ra-${scope}`, 'z', 'ze'])
    expect(await found(part), part).toEqual([name]);
  for (const former of ['before', 'between']) expect(await found(former)).toEqual([]);
});

test('a search of snippets finds what was just created, and by its new title alone what was just changed', async () => {
  const files = [{ file_path: 'a.txt', content: 'one\n' }];
  const ask = (method: string, path: string, json?: object) =>
    doneAs(service, service.rootToken, method, path, json);
  const found = async (term: string) => {
    const answer = await ask('GET', `/search?scope=snippet_titles&search=${term}`);
    return answer.body.map(({ title }: { title: string }) => title);
  };
  const first = { title: 'Quokka', visibility: 'private', files };
  const { body } = await ask('POST', '/snippets', first);
  for (const part of ['quokka', 'UOKK', 'q']) expect(await found(part), part).toEqual(['Quokka']);
  await ask('PUT', `/snippets/${body.id}`, { title: 'Wombat' });
  expect(await found('wombat')).toEqual(['Wombat']);
  const change = [{ action: 'update', file_path: 'a.txt', content: 'two\n' }];
  await ask('PUT', `/snippets/${body.id}`, { title: 'Numbat', files: change });
  expect(await found('numb')).toEqual(['Numbat']);
  for (const former of ['quokka', 'wombat']) expect(await found(former)).toEqual([]);
});

test('a snippet with as many search rows as a creation writes is created in one transaction with them', async () => {
  // Of sixty characters: 58 trigrams, and the first one and two characters.
  const title = Array.from({ length: 60 }, (_, i) => String.fromCodePoint(0x4e00 + 3 * i)).join('');
  const files = [{ file_path: 'a.txt', content: 'one\n' }];
  const json = { title, visibility: 'private', files };
  const { body } = await doneAs(service, service.rootToken, 'POST', '/snippets', json);
  const term = encodeURIComponent(title.slice(20, 24));
  const found = await doneAs(
    service,
    service.rootToken,
    'GET',
    `/search?scope=snippet_titles&search=${term}`,
  );
  expect(found.body.map(({ id }: { id: number }) => id)).toEqual([body.id]);
});

test('a name of very many trigrams is left to the worker', async () => {
  const name = Array.from({ length: 80 }, (_, i) => String.fromCodePoint(0x4e00 + 3 * i)).join('');
  const made = await doneAs(service, service.rootToken, 'POST', '/projects', { name, path: 'very-many' });
  expect(made.status).toBe(201);
  const found = (await doneAs(service, service.rootToken, 'GET', '/search?scope=projects&search=very-many'))
    .body;
  expect(found).toEqual([]);
});
