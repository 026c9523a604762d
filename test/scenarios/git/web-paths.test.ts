import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readZip } from '../../git/read-zip.ts';
import { ownWorld } from '../../harness/own-world.ts';
import type { Who } from '../../harness/world.ts';
import { type Pushed, pushedProject } from '../repository/pushed-project.ts';

/** The paths that pages, package managers and Go's tools use, beside Git's own. */
const { service, world } = ownWorld();
let pushed: Pushed;
beforeAll(async () => {
  const owner = { username: 'owner', token: world.tokens.owner! };
  const commit = (branch: string, files: string) =>
    `commit refs/heads/${branch}\ncommitter C <c@example.com> 1700000001 +0000\ndata 1\nm\n${files}\n`;
  const file = (path: string, text: string) => `M 100644 inline ${path}\ndata ${text.length}\n${text}\n`;
  pushed = await pushedProject(
    service,
    owner,
    'linked',
    (git) => {
      const main = commit('main', file('dir/a.txt', 'of main\n') + file('b/c', 'file of main\n'));
      const slashed = commit('main/b', file('c', 'c of main/b\n'));
      git.feed(main, 'fast-import', '--quiet');
      // A branch cannot be a folder of another: the slashed names are of tags.
      git.feed(slashed.replace('refs/heads/main/b', 'refs/heads/other'), 'fast-import', '--quiet');
      git.git('tag', 'main/b', 'other');
      git.git('tag', 'v1.0', 'main');
    },
    { visibility: 'private' },
  );
});
afterAll(() => {
  pushed.git[Symbol.dispose]();
});

const get = (path: string, who: Who | undefined = 'owner', init: RequestInit = {}) => {
  const token = who === undefined ? undefined : world.tokens[who];
  const headers = { ...(token === undefined ? {} : { 'PRIVATE-TOKEN': token }), ...init.headers };
  return fetch(service.url + path, { redirect: 'manual', ...init, headers });
};

describe('/-/raw/<ref>/<path>', () => {
  test.each([
    ['main/dir/a.txt', 'of main\n'],
    ['v1.0/dir/a.txt', 'of main\n'],
    ['HEAD/dir/a.txt', 'of main\n'],
    // The longest ref: the tag `main/b`, not the folder `b` of the branch `main`.
    ['main/b/c', 'c of main/b\n'],
    ['main%2Fb/c', 'c of main/b\n'],
  ])('%s is the file at that ref, where the longest ref wins', async (path, text) => {
    const got = await get(`/owner/linked/-/raw/${path}`);
    expect([got.status, await got.text()]).toEqual([200, text]);
    expect(got.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  });

  test('a commit is a ref too; HEAD has no body, what does not exist is 404, a write 405', async () => {
    const sha = pushed.git.oid('main');
    expect(await (await get(`/owner/linked/-/raw/${sha}/dir/a.txt`)).text()).toBe('of main\n');
    const head = await get('/owner/linked/-/raw/main/dir/a.txt', 'owner', { method: 'HEAD' });
    expect([head.status, head.headers.get('x-lemnos-size')]).toEqual([200, '8']);
    for (const path of ['main/none', 'none/dir/a.txt', 'main', 'main/dir'])
      expect([path, (await get(`/owner/linked/-/raw/${path}`)).status]).toEqual([path, 404]);
    expect((await get('/owner/linked/-/raw/main/dir/a.txt', 'owner', { method: 'POST' })).status).toBe(405);
  });
});

describe('/-/archive/<ref>/<name>.<format>', () => {
  const tar = (prefix: string, ...more: string[]) =>
    Buffer.from(pushed.git.git('archive', '--format=tar', `--prefix=${prefix}/`, ...more), 'latin1');

  test.each(['tar', 'tar.gz', 'zip'])(
    'is a %s of the ref, named without commit if that name is asked',
    async (format) => {
      const got = await get(`/owner/linked/-/archive/v1.0/linked-v1.0.${format}`);
      expect([got.status, got.headers.get('content-disposition')]).toEqual([
        200,
        `attachment; filename="linked-v1.0.${format}"; filename*=UTF-8''linked-v1.0.${format}`,
      ]);
      const bytes = Buffer.from(await got.arrayBuffer());
      if (format === 'zip') {
        const names = (await readZip(bytes)).entries.map(({ name }) => name);
        expect(names).toContain('linked-v1.0/dir/a.txt');
      } else {
        expect((format === 'tar' ? bytes : gunzipSync(bytes)).equals(tar('linked-v1.0', 'v1.0'))).toBe(true);
      }
    },
  );

  test('any other name gives the name with the commit; refs may have slashes; a path selects a directory', async () => {
    const sha = pushed.git.oid('other');
    const got = await get('/owner/linked/-/archive/main/b/anything.tar');
    expect(got.headers.get('content-disposition')).toContain(`filename="linked-main-b-${sha}.tar"`);
    expect(Buffer.from(await got.arrayBuffer()).equals(tar(`linked-main-b-${sha}`, 'main/b'))).toBe(true);
    const part = await get('/owner/linked/-/archive/main/linked-main.tar?path=dir');
    expect(Buffer.from(await part.arrayBuffer()).equals(tar('linked-main-dir', 'main', 'dir'))).toBe(true);
    expect((await get('/owner/linked/-/archive/main.tar')).status).toBe(200);
    for (const path of ['main/x.rar', 'none/x.zip', 'main/x'])
      expect([path, (await get(`/owner/linked/-/archive/${path}`)).status]).toEqual([path, 404]);
  });
});

test.each(['/-/raw/main/dir/a.txt', '/-/archive/main/linked-main.tar'])(
  '%s of a private project is for its readers: by header, Basic or parameter',
  async (path) => {
    const url = `/owner/linked${path}`;
    expect((await get(url, 'stranger')).status).toBe(404);
    const anonymous = await get(url, 'anonymous');
    expect([anonymous.status, anonymous.headers.get('www-authenticate')]).toEqual([
      401,
      'Basic realm="Lemnos"',
    ]);
    expect((await get(`/owner/absent${path}`, 'anonymous')).status).toBe(401);
    expect((await get(`/owner/absent${path}`, 'stranger')).status).toBe(404);
    const token = world.tokens.owner!;
    const Authorization = `Basic ${btoa(`any:${token}`)}`;
    expect((await get(url, 'anonymous', { headers: { Authorization } })).status).toBe(200);
    expect((await get(`${url}?private_token=${token}`, 'anonymous')).status).toBe(200);
  },
);

describe('?go-get=1', () => {
  const imported = async (path: string, who?: Who) => {
    const got = await get(`${path}?go-get=1`, who);
    const html = await got.text();
    return [got.status, /<meta name="go-import" content="([^"]*)">/.exec(html)?.[1]];
  };
  const told = (path: string) => {
    const host = service.url.replace('http://', '');
    return [200, `${host}/${path} git ${service.url}/${path}.git`];
  };

  test('names the project that contains a package, also in nested groups', async () => {
    const token = world.tokens.owner!;
    const group = async (name: string, parent?: number) => {
      const json = { name, path: name, visibility: 'public', ...(parent && { parent_id: parent }) };
      return (await service.call('POST', '/groups', { token, json })).body.id as number;
    };
    const nested = await group('sub', await group('top'));
    const json = { name: 'lib', namespace_id: nested, visibility: 'public' };
    expect((await service.call('POST', '/projects', { token, json })).status).toBe(201);
    for (const path of ['/top/sub/lib', '/top/sub/lib/v2/pkg'])
      expect(await imported(path, 'anonymous')).toEqual(told('top/sub/lib'));
    const hidden = { ...json, name: 'hidden', visibility: 'private' };
    expect((await service.call('POST', '/projects', { token, json: hidden })).status).toBe(201);
    expect(await imported('/top/sub/hidden/pkg', 'owner')).toEqual(told('top/sub/hidden'));
    expect(await imported('/top/sub/hidden/pkg', 'stranger')).toEqual(told('top/sub'));
    expect(await imported('/owner/public-thing/cmd/x', 'anonymous')).toEqual(told('owner/public-thing'));
  });

  test('tells strangers the first two segments, whether there is a private project or none', async () => {
    for (const who of ['anonymous', 'stranger'] as const) {
      expect(await imported('/owner/linked/pkg', who)).toEqual(told('owner/linked'));
      expect(await imported('/owner/absent/pkg', who)).toEqual(told('owner/absent'));
      expect(await imported('/no/where/at/all', who)).toEqual(told('no/where'));
    }
    expect(await imported('/owner/linked/pkg', 'owner')).toEqual(told('owner/linked'));
  });

  test('escapes what a path contains, and one segment is no project', async () => {
    const got = await get('/a/%22%3E%3Cscript%3E?go-get=1', 'anonymous');
    expect(await got.text()).not.toContain('<script>');
    expect((await get('/owner?go-get=1', 'anonymous')).status).toBe(404);
  });
});
