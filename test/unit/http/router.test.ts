import { describe, expect, test } from 'vitest';
import { anyone } from '../../../lib/http/access.ts';
import { endpoint, type Method } from '../../../lib/http/endpoint.ts';
import { HttpFailure } from '../../../lib/http/errors.ts';
import { routerOf } from '../../../lib/http/router.ts';
import { cpuMs } from '../../harness/cpu-ms.ts';

const at = (method: Method, path: string) =>
  endpoint({ method, path, area: 'test', summary: path, access: anyone(), handle: () => null });

// Parameters before literal segments, on purpose: the order of declaration must not matter.
const router = routerOf([
  at('GET', '/projects/:id'),
  at('PUT', '/projects/:id'),
  at('GET', '/projects/:id/:what'),
  at('GET', '/projects/:id/repository/files/:file_path'),
  at('GET', '/projects/:id/repository/files/:file_path/raw'),
  at('GET', '/projects/:id/repository/branches/:branch'),
  at('GET', '/projects/:id/repository/branches'),
  at('GET', '/projects/:id/repository/archive.:format'),
  at('GET', '/projects/:id/repository/archive'),
  at('GET', '/projects/:id/wikis/*slug'),
  at('GET', '/projects/:id/wikis/attachments'),
  at('GET', '/users/:user_id'),
  at('GET', '/users/me'),
  at('GET', '/openapi.:format'),
  at('GET', '/openapi.json'),
]);

const outcome = async (method: string, path: string): Promise<unknown> => {
  try {
    const { endpoint, params } = await router.match(method, path);
    return [endpoint.path, params];
  } catch (error) {
    if (error instanceof HttpFailure)
      return [error.status, error.headers['Allow']].filter((part) => part !== undefined);
    throw error;
  }
};

describe('routes', () => {
  test.each<[string, unknown]>([
    ['/projects/7', ['/projects/:id', { id: '7' }]],
    ['/projects/7/', ['/projects/:id', { id: '7' }]],
    ['/projects/7.json', ['/projects/:id', { id: '7' }]],
    ['/projects/a%2Fb', ['/projects/:id', { id: 'a/b' }]],
    ['/projects/a%2fb.json', ['/projects/:id', { id: 'a/b.json' }]],
    ['/projects/a%252Fb', ['/projects/:id', { id: 'a%2Fb' }]],
    ['/projects/a/b', ['/projects/:id/:what', { id: 'a', what: 'b' }]],
    ['/projects/a%2Fb/repository/branches', ['/projects/:id/repository/branches', { id: 'a/b' }]],
    ['/projects/1/repository/branches.json', ['/projects/:id/repository/branches', { id: '1' }]],
    [
      '/projects/1/repository/branches/1.json',
      ['/projects/:id/repository/branches/:branch', { id: '1', branch: '1.json' }],
    ],
    [
      '/projects/1/repository/branches/a%2Fb%2Ec',
      ['/projects/:id/repository/branches/:branch', { id: '1', branch: 'a/b.c' }],
    ],
    [
      '/projects/1/repository/files/a%2Fb.ts',
      ['/projects/:id/repository/files/:file_path', { id: '1', file_path: 'a/b.ts' }],
    ],
    [
      '/projects/1/repository/files/2021.json',
      ['/projects/:id/repository/files/:file_path', { id: '1', file_path: '2021.json' }],
    ],
    [
      '/projects/1/repository/files/%2E%2Egit%2B%20x/raw',
      ['/projects/:id/repository/files/:file_path/raw', { id: '1', file_path: '..git+ x' }],
    ],
    ['/projects/1/wikis/a/b%2Fc', ['/projects/:id/wikis/*slug', { id: '1', slug: 'a/b/c' }]],
    ['/projects/1/wikis/attachments', ['/projects/:id/wikis/attachments', { id: '1' }]],
    ['/projects/1/repository/archive', ['/projects/:id/repository/archive', { id: '1' }]],
    [
      '/projects/1/repository/archive.tar.gz',
      ['/projects/:id/repository/archive.:format', { id: '1', format: 'tar.gz' }],
    ],
    ['/users/me', ['/users/me', {}]],
    ['/users/5.json', ['/users/:user_id', { user_id: '5' }]],
    ['/users/%e4%bd%a0', ['/users/:user_id', { user_id: '你' }]],
    ['/openapi.json', ['/openapi.json', {}]],
    // A slash that is not encoded is another segment.
    ['/projects/1/repository/branches/a/b', [404]],
    ['/projects//repository/branches', [404]],
    ['/PROJECTS/1', [404]],
    ['/projects/%', [400]],
    ['/projects/%c3', [400]],
    ['/projects/%00', [400]],
  ])('%s', async (path, expected) => {
    expect(await outcome('GET', `/api/v4${path}`)).toEqual(expected);
  });

  test('do not match paths outside the root', async () => {
    for (const path of ['/projects/1', '/', '/api/v4', '/api/v44/projects/1', '/x/api/v4/projects/1']) {
      expect(await outcome('GET', path)).toEqual([404]);
    }
    expect(await outcome('GET', '/api/v3/projects/1')).toEqual([410]);
    expect(await outcome('GET', '/api/v3')).toEqual([410]);
  });

  test('return the allowed methods of a known path', async () => {
    expect(await outcome('DELETE', '/api/v4/projects/1')).toEqual([405, 'OPTIONS, GET, HEAD, PUT']);
    expect(await router.methods('/api/v4/projects/1')).toEqual(['OPTIONS', 'GET', 'HEAD', 'PUT']);
    expect(await router.methods('/api/v4/nothing')).toEqual([]);
    expect(await outcome('HEAD', '/api/v4/projects/1')).toEqual(['/projects/:id', { id: '1' }]);
  });

  test('match long paths in linear time', async () => {
    const started = cpuMs();
    await outcome('GET', `/api/v4/projects/${'a/'.repeat(20_000)}`);
    await outcome('GET', `/api/v4/projects/1/wikis/${'/'.repeat(20_000)}x`);
    await outcome('GET', `/api/v4/projects/1/wikis/x${'/'.repeat(20_000)}`);
    expect(cpuMs() - started).toBeLessThan(2000);
  });
});
