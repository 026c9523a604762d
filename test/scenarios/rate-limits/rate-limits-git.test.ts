/** Git that comes too often, through everything API Gateway and Lambda put before it: what git itself says of it. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { apiDeps } from '../../../lib/api/endpoint.ts';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import { type Service, startService } from '../../harness/service.ts';
import { changeSettings } from '../../harness/settings.ts';

let service: Service;
const git = new GitCli();
const pool: { id: number; username: string; token: string }[] = [];
let deployToken: { username: string; token: string };
/** Everybody comes from this machine: each test has a window of its own. */
let clock = Math.floor(Date.now() / 3_600_000) * 3_600_000 + 5_000;

beforeAll(async () => {
  service = await startService({ background: false, limits: true });
  for (let n = 0; n < 5; n++) pool.push(await service.user(`somebody${n}`));
  const token = service.rootToken;
  for (const visibility of ['public', 'private']) {
    const made = await service.call('POST', '/projects', {
      token,
      json: { name: visibility, visibility, initialize_with_readme: true },
    });
    expect(made.status).toBe(201);
    const issued = await service.call('POST', `/projects/${made.body.id}/deploy_tokens`, {
      token,
      json: { name: 'reads', scopes: ['read_repository'] },
    });
    deployToken = issued.body;
  }
  Object.assign(deps(), apiDeps({ ...deps(), now: () => new Date(clock) }));
});
afterAll(async () => {
  await service?.stop();
  git[Symbol.dispose]();
});
beforeEach(() => {
  clock += 3_600_000;
});
afterEach(() =>
  changeSettings(service, {
    throttle_unauthenticated_enabled: false,
    throttle_authenticated_web_enabled: false,
  }),
);

const enable = (name: string, limit: number) =>
  changeSettings(service, {
    [`throttle_${name}_enabled`]: true,
    [`throttle_${name}_requests_per_period`]: limit,
    [`throttle_${name}_period_in_seconds`]: 3600,
  });
const remote = (path: string, token?: string) => withToken(service.url, path, token);
const refs = (url: string) => git.run(['ls-remote', url]);

describe('a rate-limited Git client fails with a readable message', () => {
  test('when anonymous', async () => {
    await enable('unauthenticated', 3);
    // Of version 2, a listing is two requests.
    expect((await refs(remote('root/public'))).code).toBe(0);
    const { code, stderr } = await refs(remote('root/public'));
    expect(code).not.toBe(0);
    expect(stderr).toContain('429');
    const clone = await git.run(['clone', remote('root/public'), 'refused']);
    expect(clone.code).not.toBe(0);
    expect(clone.stderr).toMatch(/remote: Retry later\n.*429/s);
  });

  test('when signed in, while other users go on', async () => {
    const [ada, bob] = [pool.pop()!, pool.pop()!];
    await enable('authenticated_web', 4);
    // git shows no credential before it is asked for one; a public repository asks for none.
    const asked = (token: string) =>
      git.run([
        ...['-c', `http.extraHeader=Authorization: Basic ${Buffer.from(`x:${token}`).toString('base64')}`],
        ...['ls-remote', remote('root/public')],
      ]);
    expect((await asked(ada.token)).code).toBe(0);
    expect((await asked(ada.token)).code).toBe(0);
    const { code, stderr } = await asked(ada.token);
    expect(code).not.toBe(0);
    expect(stderr).toContain('429');
    expect((await asked(bob.token)).code).toBe(0);
    expect((await refs(remote('root/public'))).code).toBe(0);
  });

  test('with a deploy token', async () => {
    await enable('authenticated_web', 2);
    const { username, token } = deployToken;
    const url = new URL(remote('root/private'));
    [url.username, url.password] = [username, token];
    expect((await refs(url.href)).code).toBe(0);
    const { code, stderr } = await refs(url.href);
    expect(code).not.toBe(0);
    expect(stderr).toContain('429');
  });

  test('on one push too many, which changes nothing', async () => {
    const work = await git.clone(remote('root/public'), 'work');
    await git.ok(work, 'commit', '-q', '--allow-empty', '-m', 'one more');
    const url = remote('root/public', service.rootToken);
    const before = (await refs(url)).stdout.toString();
    await enable('authenticated_web', 1);
    const push = await git.run(['push', url, 'HEAD'], { cwd: work });
    expect(push.code).not.toBe(0);
    expect(push.stderr).toContain('429');
    await changeSettings(service, { throttle_authenticated_web_enabled: false });
    expect((await refs(url)).stdout.toString()).toBe(before);
  });
});

describe('a Git request answered with 401 before it reaches the function', () => {
  const headers = (token?: string) =>
    token === undefined ? {} : { authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}` };
  const asking = (token?: string) =>
    fetch(`${service.url}/root/private.git/info/refs?service=git-upload-pack`, { headers: headers(token) });

  test.each([undefined, 'glpat-nobody-has-this-one'])('is rate-limited: %s', async (token) => {
    await enable('unauthenticated', 3);
    const statuses: number[] = [];
    for (let n = 0; n < 5; n++) statuses.push((await asking(token)).status);
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    const refused = await asking(token);
    expect(await refused.text()).toBe('Retry later');
    expect(refused.headers.get('ratelimit-name')).toBe('throttle_unauthenticated_web');
    // A good credential from the same address goes on.
    expect((await asking(service.rootToken)).status).toBe(200);
  });
});
