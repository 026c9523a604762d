/** isomorphic-git as a second, independent client; it uses protocol version 1. */
import * as fs from 'node:fs';
import * as isomorphic from 'isomorphic-git';
import http from 'isomorphic-git/http/node';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Host, history, startHost, Workspace } from './wire-host.ts';

let host: Host;
let work: Workspace;

beforeEach(async () => {
  [host, work] = await Promise.all([startHost(), Workspace.create()]);
  await work.git('.', ['init', '-q', '--bare', '-b', 'main', 'source.git']);
  await work.git('source.git', ['fast-import', '--quiet'], history(40));
  await work.git('source.git', ['push', '-q', host.url, 'refs/*:refs/*']);
});

afterEach(async () => {
  await Promise.all([host.close(), work.remove()]);
  expect(host.errors).toEqual([]);
});

const ada = { name: 'Ada', email: 'ada@example.org' };

it('clones, commits and pushes', async () => {
  const dir = work.path('copy');
  await isomorphic.clone({ fs, http, dir, url: host.url });
  expect(await isomorphic.currentBranch({ fs, dir })).toBe('main');
  expect(await work.git('copy', ['rev-list', '--count', 'HEAD'])).toBe(
    await work.git('source.git', ['rev-list', '--count', 'main']),
  );
  await work.git('copy', ['fsck', '--strict', '--full']);

  fs.writeFileSync(`${dir}/new.txt`, 'new\n');
  await isomorphic.add({ fs, dir, filepath: 'new.txt' });
  const oid = await isomorphic.commit({ fs, dir, message: 'new', author: ada });
  const result = await isomorphic.push({ fs, http, dir, url: host.url, ref: 'main' });
  expect(result).toMatchObject({ ok: true, refs: { 'refs/heads/main': { ok: true } } });
  expect(host.pushes.at(-1)?.updated).toMatchObject([
    { name: 'refs/heads/main', to: oid, kind: 'update', forced: false },
  ]);

  await work.git('.', ['clone', '-q', '--mirror', host.url, 'proof.git']);
  expect(await work.git('proof.git', ['rev-parse', 'main'])).toBe(`${oid}\n`);
  await work.git('proof.git', ['fsck', '--strict', '--full']);
});

it('fetches what is new', async () => {
  const dir = work.path('copy');
  await isomorphic.clone({ fs, http, dir, url: host.url });
  await work.git('source.git', ['fast-import', '--quiet', '--force'], history(50));
  await work.git('source.git', ['push', '-q', '--force', host.url, 'refs/*:refs/*']);
  const { fetchHead } = await isomorphic.fetch({ fs, http, dir, url: host.url, ref: 'main', tags: true });
  expect(`${fetchHead}\n`).toBe(await work.git('source.git', ['rev-parse', 'main']));
  await work.git('copy', ['fsck', '--strict', '--full']);
});

it('clones one commit deep', async () => {
  const dir = work.path('copy');
  await isomorphic.clone({ fs, http, dir, url: host.url, depth: 1, singleBranch: true });
  expect(await isomorphic.log({ fs, dir })).toHaveLength(1);
  await work.git('copy', ['fsck', '--strict', '--full', '--no-dangling']);
});

it('gets the reason of a refusal', async () => {
  const dir = work.path('copy');
  await isomorphic.clone({ fs, http, dir, url: host.url });
  host.options.authorize = () => 'pre-receive hook declined';
  await isomorphic.commit({ fs, dir, message: 'more', author: ada });
  await expect(isomorphic.push({ fs, http, dir, url: host.url, ref: 'main' })).rejects.toMatchObject({
    data: { result: { refs: { 'refs/heads/main': { ok: false, error: 'pre-receive hook declined' } } } },
  });
});

it('lists the same refs with both protocol versions', async () => {
  const list = async (protocolVersion: 1 | 2) =>
    (await isomorphic.listServerRefs({ http, url: host.url, protocolVersion, symrefs: true, peelTags: true }))
      .map(({ ref, oid, target, peeled }) => [ref, oid, target, peeled].join(' '))
      .sort();
  expect(await list(2)).toEqual(await list(1));
  expect(await list(2)).toHaveLength(6);
});
