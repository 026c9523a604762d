/** Large pushes to wikis and snippets, call by call: as those to code, with the rights and the rules of each. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { ingestUpload } from '../../../lib/domain/git/receive-staged-push.ts';
import { openBeside } from '../../../lib/domain/worker/open-beside.ts';
import { parseOid, ZERO_OID } from '../../../lib/git/oid.ts';
import { pushRequest } from '../../../lib/git/wire/push-request.ts';
import { pushUploadKey } from '../../../lib/store/row-keys/git.ts';
import { GitCli } from '../../clients/git-cli.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { type Answer, request } from '../../harness/service.ts';
import type { Who } from '../../harness/world.ts';

const git = new GitCli();
const { service, world, as } = ownWorld({ limits: true });
afterAll(() => git[Symbol.dispose]());

const files = [{ file_path: 'a.txt', content: 'one\n' }];
/** Paths of repositories, below the service's URL. */
const paths = {
  code: 'owner/private-thing',
  wiki: 'owner/private-thing.wiki',
  group: '',
  personal: '',
  shelf: '',
};
type Place = keyof typeof paths;
const ids = { group: 0, personal: 0, shelf: 0 };
beforeAll(async () => {
  const made = async (path: string, json: object) => {
    const { status, body } = await as('owner', 'POST', path, json);
    expect(status, JSON.stringify(body)).toBe(201);
    return body;
  };
  ids.group = (await made('/groups', { name: 'Crew', path: 'crew' })).id;
  const snippet = { title: 'x', visibility: 'private', files };
  ids.personal = (await made('/snippets', snippet)).id;
  ids.shelf = (await made(`/projects/${world.ids['private']}/snippets`, snippet)).id;
  paths.group = 'crew.wiki';
  paths.personal = `snippets/${ids.personal}`;
  paths.shelf = `owner/private-thing/snippets/${ids.shelf}`;
});

const basic = (who: Who) => {
  const token = world.tokens[who];
  return token === undefined ? {} : { Authorization: `Basic ${btoa(`any:${token}`)}` };
};
const call = (who: Who, place: Place, method: string, rest = '', body?: Uint8Array): Promise<Answer> =>
  request(`${service.url}/${paths[place]}.git/lemnos/uploads${rest}`, method, {
    headers: basic(who),
    body: body as BodyInit | undefined,
  });

interface Change {
  readonly ref: string;
  readonly from?: string | undefined;
  readonly to: string;
}
const head = ({ ref, from, to }: Change) =>
  pushRequest({ commands: [{ name: ref, from: from ? parseOid(from)! : ZERO_OID, to: parseOid(to)! }] });

let works = 0;
/** A commit of one file, on what is there. @returns the pack that brings it */
async function commit(place: Place, file: string, text: string | Uint8Array) {
  const at = git.path(`work-${++works}`);
  const url = `http://any:${world.tokens.owner}@${service.url.slice('http://'.length)}/${paths[place]}.git`;
  await git.ok(git.home, 'clone', '--quiet', url, at);
  const from = (await git.run(['rev-parse', '--verify', '-q', 'HEAD'], { cwd: at })).stdout.toString().trim();
  writeFileSync(join(at, file), text);
  await git.ok(at, 'add', '.');
  await git.ok(at, 'commit', '--quiet', '-m', file);
  const to = await git.ok(at, 'rev-parse', 'HEAD');
  const input = `${to}\n${from === '' ? '' : `^${from}\n`}`;
  const { stdout } = await git.run(['pack-objects', '--revs', '--thin', '--stdout', '-q'], {
    cwd: at,
    input,
  });
  return { pack: stdout, from: from || undefined, to };
}

/** Uploads without enqueuing anything: the test invokes the worker. */
async function ready(who: Who, place: Place, change: Change, pack: Uint8Array): Promise<string> {
  const begun = await call(who, place, 'POST', `?size=${pack.length}`, head(change));
  expect([place, begun.status, begun.body]).toEqual([
    place,
    201,
    expect.objectContaining({ state: 'uploading' }),
  ]);
  const { id, part_size } = begun.body;
  for (const { number, url } of (await call(who, place, 'GET', `/${id}/parts`)).body.parts) {
    const part = pack.subarray((number - 1) * part_size, number * part_size);
    expect((await fetch(url, { method: 'PUT', body: part as BodyInit })).status).toBe(200);
  }
  const { staged } = (await world.store.pushUploads.get(id))!;
  await world.store.stagingArea.complete(staged);
  await world.store.table.update({ update: pushUploadKey(id), set: { state: 'queued' } });
  return id;
}
const take = (id: string) => ingestUpload(deps(), id, { openBeside });
const end = async (who: Who, place: Place, id: string) => (await call(who, place, 'GET', `/${id}`)).body;

describe('a large push', () => {
  test.each(['wiki', 'group'] as const)(
    'to a %s is its first one, and brings a page that no request could',
    async (place) => {
      const wiki =
        place === 'wiki' ? `/projects/${world.ids['private']}/wikis` : `/groups/${ids.group}/wikis`;
      const content = randomBytes(6_000_000).toString('base64');
      const { status, body } = await as('owner', 'POST', wiki, { title: 'home', content });
      expect([status, body]).toEqual([413, { message: '413 Request Entity Too Large' }]);
      const { pack, to } = await commit(place, 'home.md', content);
      const id = await ready('owner', place, { ref: 'refs/heads/main', to }, pack);
      await take(id);
      expect(await end('owner', place, id)).toMatchObject({
        state: 'done',
        report: { unpack: 'ok', refs: [{ name: 'refs/heads/main' }] },
      });
      expect((await as('owner', 'GET', wiki)).body).toMatchObject([{ slug: 'home' }]);
      const page = (await as('owner', 'GET', `${wiki}/home`)).body;
      expect([page.slug, page.content === content]).toEqual(['home', true]);
      if (place === 'group') return;
      const events = await as('owner', 'GET', `/projects/${world.ids['private']}/events`);
      expect(JSON.stringify(events.body)).toContain('"slug":"home"');
    },
  );

  test.each(['personal', 'shelf'] as const)('to a %s snippet changes its files', async (place) => {
    const { pack, from, to } = await commit(place, 'large.bin', randomBytes(5_000_000));
    const id = await ready('owner', place, { ref: 'refs/heads/main', from, to }, pack);
    await take(id);
    expect(await end('owner', place, id)).toMatchObject({ state: 'done' });
    const one =
      place === 'personal'
        ? `/snippets/${ids.personal}`
        : `/projects/${world.ids['private']}/snippets/${ids.shelf}`;
    expect((await as('owner', 'GET', one)).body.files).toMatchObject([
      { path: 'a.txt' },
      { path: 'large.bin' },
    ]);
  });

  test('gets the refusals that a push would get', async () => {
    for (const [place, ref, reason] of [
      ['wiki', 'refs/keep/x', 'A wiki has branches and tags only.'],
      ['shelf', 'refs/heads/other', 'A snippet has one branch, main.'],
    ] as const) {
      const { pack, to } = await commit(place, 'b.txt', 'two\n');
      const id = await ready('owner', place, { ref, to }, pack);
      await take(id);
      expect((await end('owner', place, id)).report.refs).toEqual([{ name: ref, reason }]);
    }
    const many = await commit('shelf', 'c.txt', randomBytes(100));
    await as('administrator', 'PUT', '/application/settings', { snippet_size_limit: 10 });
    const id = await ready(
      'owner',
      'shelf',
      { ref: 'refs/heads/main', from: many.from, to: many.to },
      many.pack,
    );
    await take(id);
    await as('administrator', 'PUT', '/application/settings', { snippet_size_limit: 52_428_800 });
    expect((await end('owner', 'shelf', id)).report.refs[0].reason).toContain('Content is too long');
  });

  test('is refused when the right to it is lost before it is applied', async () => {
    const member = `/projects/${world.ids['private']}/members/${world.ids['developer']}`;
    const { pack, from, to } = await commit('wiki', 'late.md', 'late');
    const id = await ready('developer', 'wiki', { ref: 'refs/heads/main', from, to }, pack);
    await as('owner', 'PUT', member, { access_level: 20 });
    await take(id);
    await as('owner', 'PUT', member, { access_level: 30 });
    expect(await end('developer', 'wiki', id)).toMatchObject({
      state: 'failed',
      failure: "403 Forbidden - You are not allowed to write to this project's wiki.",
    });
  });

  test('to what is deleted meanwhile is refused', async () => {
    const made = await as('owner', 'POST', '/snippets', { title: 'short', visibility: 'private', files });
    paths.personal = `snippets/${made.body.id}`;
    const { pack, from, to } = await commit('personal', 'b.txt', 'two\n');
    const id = await ready('owner', 'personal', { ref: 'refs/heads/main', from, to }, pack);
    await as('owner', 'DELETE', `/snippets/${made.body.id}`);
    await take(id);
    expect(await world.store.pushUploads.get(id)).toMatchObject({
      state: 'failed',
      failure: '404 Snippet Not Found',
    });
    paths.personal = `snippets/${ids.personal}`;
  });
});

const one = head({ ref: 'refs/heads/x', to: '1'.repeat(40) });
test.each([
  ['anonymous', 'wiki', 401],
  ['stranger', 'wiki', 404],
  ['reporter', 'wiki', 403],
  ['read_repository', 'wiki', 403],
  ['stranger', 'group', 404],
  ['anonymous', 'personal', 401],
  ['stranger', 'personal', 404],
  ['developer', 'shelf', 403],
  ['stranger', 'shelf', 404],
] as const)(
  '%s cannot begin an upload to the repository %s: %i, as for git-receive-pack',
  async (who, place, status) => {
    const begun = await call(who, place, 'POST', '?size=100', one);
    const discovery = await request(
      `${service.url}/${paths[place]}.git/info/refs?service=git-receive-pack`,
      'GET',
      { headers: basic(who) },
    );
    expect([begun.status, discovery.status]).toEqual([status, status]);
    expect(begun.headers.get('www-authenticate')).toBe(discovery.headers.get('www-authenticate'));
  },
);

test('an upload to one repository is not found at another one of the same owner', async () => {
  const { body } = await call('owner', 'wiki', 'POST', '?size=100', one);
  for (const place of ['code', 'group', 'personal', 'shelf'] as const)
    expect([place, (await call('owner', place, 'GET', `/${body.id}`)).status]).toEqual([place, 404]);
  expect((await call('owner', 'wiki', 'DELETE', `/${body.id}`)).status).toBe(204);
});
