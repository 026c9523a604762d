/** Searches of snippets by their titles, and of the pages of a wiki. */
import { beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';

const { as, world } = ownWorld();
const files = [{ file_path: 'a.txt', content: 'one\n' }];

beforeAll(async () => {
  await as('administrator', 'PUT', '/application/settings', { search_rate_limit: 0 });
});

async function made(who: Who, path: string, json: object) {
  const { status, body } = await as(who, 'POST', path, json);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

describe('a search of snippets', () => {
  const found = async (who: Who, search: string, where = '', query = '') => {
    await settled();
    const path = `${where}/search?scope=snippet_titles&search=${encodeURIComponent(search)}${query}`;
    const { status, body } = await as(who, 'GET', path);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.map(({ title }: { title: string }) => title);
  };
  const snippet = (who: Who, title: string, visibility: string, at = '/snippets') =>
    made(who, at, { title, visibility, files });

  test('finds by parts of the title what the caller may see: own ones, internal and public ones', async () => {
    await snippet('owner', 'Pelican feeder', 'private');
    await snippet('owner', 'A pelican for us', 'internal');
    const last = await snippet('owner', 'Pelicans for all', 'public');
    expect(await found('owner', 'pelican')).toEqual([
      'Pelicans for all',
      'A pelican for us',
      'Pelican feeder',
    ]);
    expect(await found('stranger', 'PELICAN for')).toEqual(['Pelicans for all', 'A pelican for us']);
    expect(await found('external', 'pelican')).toEqual(['Pelicans for all']);
    expect(await found('owner', 'elica', '', '&sort=asc&per_page=1&page=2')).toEqual(['A pelican for us']);
    await as('owner', 'PUT', `/snippets/${last.id}`, { title: 'Storks for all' });
    expect(await found('stranger', 'pelicans')).toEqual([]);
    expect(await found('stranger', 'storks')).toEqual(['Storks for all']);
    const change = [{ action: 'update', file_path: 'a.txt', content: 'two\n' }];
    await as('owner', 'PUT', `/snippets/${last.id}`, { title: 'Cranes for all', files: change });
    expect(await found('stranger', 'cranes')).toEqual(['Cranes for all']);
    await as('owner', 'DELETE', `/snippets/${last.id}`);
    expect(await found('stranger', 'cranes')).toEqual([]);
  });

  test('finds those of projects for who may see the project and the snippet, in the project too', async () => {
    const at = (name: string) => `/projects/${world.ids[name]}`;
    await snippet('owner', 'Heron of the house', 'public', `${at('private')}/snippets`);
    await snippet('owner', 'Heron in the open', 'public', `${at('public')}/snippets`);
    await snippet('owner', 'Heron between us', 'private', `${at('public')}/snippets`);
    expect(await found('stranger', 'heron')).toEqual(['Heron in the open']);
    expect(await found('guest', 'heron', at('public'))).toEqual(['Heron between us', 'Heron in the open']);
    expect(await found('guest', 'heron')).toHaveLength(3);
    expect(await found('owner', 'pelican', at('public'))).toEqual([]);
  });
});

describe('a search of the pages of a wiki', () => {
  test('finds pages by a part of slug or content, with the lines around it', async () => {
    const { id } = await made('owner', '/projects', { name: 'pages', visibility: 'public' });
    const at = `/projects/${id}`;
    const content = 'one\ntwo\nthree\nThe Walrus\nfive\nsix\nseven\n';
    await made('owner', `${at}/wikis`, { title: 'Sea/Animals', content });
    await made('owner', `${at}/wikis`, { title: 'walrus food', content: 'Mussels' });
    await made('owner', `${at}/wikis`, { title: 'other', content: 'Seals' });
    const search = (who: Who, query: string) => as(who, 'GET', `${at}/search?scope=wiki_blobs&${query}`);
    const { body, headers } = await search('stranger', 'search=walrus');
    expect(headers.get('X-Total')).toBe('2');
    expect(body).toEqual([
      {
        basename: 'Sea/Animals',
        data: 'two\nthree\nThe Walrus\nfive\nsix',
        path: 'Sea/Animals.md',
        filename: 'Sea/Animals.md',
        id: null,
        ref: 'main',
        startline: 2,
        project_id: id,
        group_id: null,
      },
      expect.objectContaining({ basename: 'walrus-food', data: 'Mussels', startline: 1 }),
    ]);
    expect((await search('owner', 'search=walrus&per_page=1&page=2')).body).toHaveLength(1);
    expect((await search('owner', 'search=dolphin')).body).toEqual([]);
    await as('owner', 'PUT', at, { wiki_access_level: 'private' });
    expect((await search('stranger', 'search=walrus')).body).toEqual([]);
    expect((await search('owner', 'search=walrus')).body).toHaveLength(2);
  });

  test('needs a project', async () => {
    expect(await as('owner', 'GET', '/search?scope=wiki_blobs&search=x')).toMatchObject({
      status: 400,
      body: { message: 'Scope not supported without a full-text index' },
    });
  });
});
