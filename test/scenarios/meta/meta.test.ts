import { describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { expectSchema } from '../../harness/schemas.ts';
import { request } from '../../harness/service.ts';

const { service, world } = ownWorld();

const WHO = {
  anonymous: 401,
  stranger: 200,
  external: 200,
  administrator: 200,
  blocked: 403,
  expired: 401,
  revoked: 401,
  unknown: 401,
  read_user: 200,
  read_api: 200,
  read_repository: 403,
} as const;

describe('version and metadata', () =>
  scenarios(
    () => world,
    [
      { request: 'GET /version', as: WHO, holds: { version: '14.4.0', revision: expect.any(String) } },
      {
        request: 'GET /metadata',
        as: WHO,
        holds: { version: '14.4.0', enterprise: false },
        look: ({ status, body }) => {
          if (status === 200) expectSchema('metadata', body);
        },
      },
      {
        request: 'GET /openapi.json',
        as: { anonymous: 200, stranger: 200, expired: 401 },
        holds: { openapi: '3.1.0' },
      },
    ],
  ));

test('the OpenAPI document describes the deployed endpoints at this address', async () => {
  const { body } = await service.call('GET', '/openapi.json');
  expect(body.servers).toEqual([{ url: `${service.url}/api/v4` }]);
  type Operations = Record<string, { servers?: { url: string }[] }>;
  for (const [path, operations] of Object.entries<Operations>(body.paths)) {
    for (const [method, { servers = body.servers }] of Object.entries(operations)) {
      // Relative to the document.
      const server = new URL(servers[0].url, `${service.url}/api/v4/openapi.json`).href.replace(/\/$/, '');
      const url = server + path.replace(/\{\w+\}/g, '987654');
      const allowed = await request(url, 'OPTIONS');
      expect([path, allowed.status]).toEqual([path, 204]);
      expect(allowed.headers.get('allow')).toContain(method.toUpperCase());
    }
  }
});

test('the root page and the API documentation are served', async () => {
  const root = await request(`${service.url}/`, 'GET');
  expect([root.status, root.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
  expect(root.body).toContain(`${service.url}/api/v4/openapi.json`);
  expect(root.body).toContain('Pushes of any size work with git alone.');
  const docs = await request(`${service.url}/api/docs`, 'GET');
  expect([docs.status, docs.headers.get('content-type')]).toEqual([
    200,
    expect.stringMatching(/^text\/html/),
  ]);
});
