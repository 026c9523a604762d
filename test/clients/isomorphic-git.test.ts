import * as fs from 'node:fs';
import * as isomorphic from 'isomorphic-git';
import http from 'isomorphic-git/http/node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../harness/service.ts';
import { GitCli, withToken } from './git-cli.ts';

/** A client by other authors, with its own idea of the protocol and of credentials. */
const git = new GitCli();
const author = { name: 'Ada', email: 'ada@example.com' };
let service: Service;
let token: string;
let id: number;
beforeAll(async () => {
  service = await startService();
  token = (await service.user('ada')).token;
  id = (await service.call('POST', '/projects', { token, json: { name: 'thing', visibility: 'private' } }))
    .body.id;
  for (const name of ['a', 'b']) {
    const json = { branch: 'main', commit_message: name, content: name };
    await service.call('POST', `/projects/${id}/repository/files/${name}`, { token, json });
  }
});
afterAll(async () => {
  await service.stop();
  git[Symbol.dispose]();
});

const url = () => `${service.url}/ada/thing.git`;
const head = async (branch = 'main') =>
  (await service.call('GET', `/projects/${id}/repository/branches/${branch}`, { token })).body.commit.id;

test('isomorphic-git sends credentials when asked, clones, pushes its commits and fetches others’', async () => {
  const dir = git.path('copy');
  let asked = 0;
  const onAuth = () => {
    asked++;
    return { username: 'ada', password: token };
  };
  await isomorphic.clone({ fs, http, dir, url: url(), onAuth });
  expect(asked).toBeGreaterThan(0);
  await git.sound(dir);
  expect(await isomorphic.resolveRef({ fs, dir, ref: 'HEAD' })).toBe(await head());

  fs.writeFileSync(`${dir}/c`, 'c');
  await isomorphic.add({ fs, dir, filepath: 'c' });
  const commit = await isomorphic.commit({ fs, dir, author, message: 'c\n' });
  await isomorphic.tag({ fs, dir, ref: 'v1' });
  expect(await isomorphic.push({ fs, http, dir, onAuth })).toMatchObject({ ok: true });
  expect(await isomorphic.push({ fs, http, dir, onAuth, ref: 'v1' })).toMatchObject({ ok: true });
  expect(await head()).toBe(commit);

  await isomorphic.branch({ fs, dir, ref: 'topic', checkout: true });
  expect(await isomorphic.push({ fs, http, dir, onAuth, remote: 'origin', ref: 'topic' })).toMatchObject({
    ok: true,
  });
  for (const branch of ['main', 'topic']) {
    const json = { branch, commit_message: 'd', content: 'd' };
    await service.call('POST', `/projects/${id}/repository/files/d`, { token, json });
  }
  const { fetchHead } = await isomorphic.fetch({ fs, http, dir, onAuth, remote: 'origin', ref: 'main' });
  expect(fetchHead).toBe(await head());

  fs.writeFileSync(`${dir}/e`, 'e');
  await isomorphic.add({ fs, dir, filepath: 'e' });
  await isomorphic.commit({ fs, dir, author, message: 'e\n' });
  const topic = { fs, http, dir, onAuth, remote: 'origin', ref: 'topic' };
  await expect(isomorphic.push(topic)).rejects.toThrow(/fast-forward/);
  expect(await isomorphic.push({ ...topic, force: true })).toMatchObject({ ok: true });
  expect(await head('topic')).toBe(await isomorphic.resolveRef({ fs, dir, ref: 'HEAD' }));
  await git.clone(withToken(service.url, 'ada/thing', token), 'proof');
});

test('isomorphic-git gets 401 without valid credentials, and 404 as a stranger', async () => {
  const stranger = await service.user('eve');
  const info = (password?: string) =>
    isomorphic.getRemoteInfo({
      http,
      url: url(),
      ...(password === undefined
        ? {}
        : { onAuth: () => ({ username: 'x', password }), onAuthFailure: () => ({ cancel: true }) }),
    });
  await expect(info()).rejects.toMatchObject({ data: { statusCode: 401 } });
  await expect(info('wrong')).rejects.toMatchObject({ code: 'UserCanceledError' });
  await expect(info(stranger.token)).rejects.toMatchObject({ data: { statusCode: 404 } });
  expect(await info(token)).toMatchObject({ refs: { heads: { main: await head() } } });
});
