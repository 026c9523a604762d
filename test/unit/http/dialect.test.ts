import { expect, test } from 'vitest';
import * as z from 'zod';
import { DomainError, invalid, notFound } from '../../../lib/domain/errors.ts';
import { type AccessPort, otherCredential } from '../../../lib/http/access.ts';
import type { Dialect } from '../../../lib/http/dialect.ts';
import { endpointFor, type HttpDeps } from '../../../lib/http/endpoint.ts';
import { apiFunction } from '../../../lib/http/function.ts';
import { document } from '../../../lib/http/openapi.ts';
import * as p from '../../../lib/http/params.ts';

/** An interface of another dialect beside the REST one: the caller is the user whom the word names. */
const dialect: Dialect = {
  type: 'application/else+json',
  takes: ['application/else+json'],
  failure: (status, detail, extra) => ({ problem: detail, status, ...extra }),
  failureShape: () => z.object({ problem: z.string(), status: z.int() }),
};
const endpoint = endpointFor<HttpDeps>();
const path = '/api/else/v1/:word/things';
const access = otherCredential(async ({ credential, params }) => {
  if (credential.kind !== 'token' || credential.token !== params['word'])
    throw new DomainError('unauthorized', '401 Unauthorized');
  return params['word']!;
});
const shared = { path, area: 'else', summary: 'Things', access, dialect, bodyLimit: 100 } as const;
const failures: Readonly<Record<string, Error>> = {
  hidden: notFound('Thing'),
  broken: new Error('no answer to this'),
  wrong: invalid({ name: ["can't be blank", 'is too short'], size: ['is odd'] }),
  twice: new DomainError('conflict', 'Taken', { kind: 'uniqueness' }),
};
const endpoints = [
  endpoint({
    ...shared,
    method: 'GET',
    handle: ({ actor }) => {
      const failure = failures[actor];
      if (failure !== undefined) throw failure;
      return { actor };
    },
  }),
  endpoint({
    ...shared,
    method: 'POST',
    body: () => p.params({ name: p.string({ required: true }) }),
    handle: ({ body }) => body,
  }),
];
const { fetch } = apiFunction({ endpoints, deps: () => ({ access: {} as AccessPort }) });

async function ask(
  method: string,
  word: string,
  more: { shows?: string; type?: string; body?: string } = {},
) {
  const { shows = word, type = 'application/else+json', body } = more;
  const request = new Request(`http://else/api/else/v1/${word}/things`, {
    method,
    headers: { Authorization: `Bearer ${shows}`, ...(body === undefined ? {} : { 'Content-Type': type }) },
    ...(body === undefined ? {} : { body }),
  });
  const answer = await fetch(request, { baseUrl: 'http://else', sourceIp: '192.0.2.1' });
  return {
    status: answer.status,
    type: answer.headers.get('content-type'),
    body: JSON.parse(await answer.text()),
  };
}

test.each([
  ['a success', ['GET', 'me'], 200, { actor: 'me' }],
  ['a success that makes something', ['POST', 'me', { body: '{"name":"a"}' }], 201, { name: 'a' }],
  ['nobody', ['GET', 'me', { shows: 'you' }], 401, { problem: '401 Unauthorized' }],
  [
    'nobody, before what is wrong',
    ['POST', 'me', { shows: 'you', body: '{}' }],
    401,
    { problem: '401 Unauthorized' },
  ],
  ['a parameter that is missing', ['POST', 'me', { body: '{}' }], 400, { problem: 'name is missing' }],
  ['JSON that is none', ['POST', 'me', { body: '{' }], 400, { problem: 'Problems parsing JSON' }],
  ['another type', ['POST', 'me', { body: '{}', type: 'text/plain' }], 415, { status: 415 }],
  ['a form', ['POST', 'me', { body: 'name=a', type: 'application/x-www-form-urlencoded' }], 415, {}],
  ['too much', ['POST', 'me', { body: `{"name":"${'a'.repeat(100)}"}` }], 413, { status: 413 }],
  ['another method', ['DELETE', 'me'], 405, { problem: '405 Not Allowed' }],
  ['what a rule hides', ['GET', 'hidden'], 404, { problem: '404 Thing Not Found' }],
  ['a defect', ['GET', 'broken'], 500, { problem: '500 Internal Server Error' }],
  [
    'problems by field',
    ['GET', 'wrong'],
    400,
    { problem: "name can't be blank, is too short; size is odd", status: 400 },
  ],
  ['what a rule says beside', ['GET', 'twice'], 409, { problem: 'Taken', kind: 'uniqueness' }],
] as const)('%s is told in the dialect', async (_, [method, word, more], status, holds) => {
  expect(await ask(method, word, more)).toMatchObject({ status, type: 'application/else+json', body: holds });
});

test('a path declared from the root is not served below /api/v4', async () => {
  const request = new Request('http://else/api/v4/api/else/v1/me/things');
  expect((await fetch(request, { baseUrl: 'http://else', sourceIp: '' })).status).toBe(404);
});

test('its OpenAPI document has content types, errors, credential and paths', () => {
  const { paths } = document(endpoints, { title: 'Else', version: '1', serverUrl: 'http://else' });
  const { get, post } = paths['/api/else/v1/{word}/things']!;
  expect(get).toMatchObject({ security: [{ bearer: [] }], servers: [{ url: 'http://else' }] });
  expect(Object.keys(get!.responses[200]!.content!)).toEqual(['application/else+json']);
  expect(get!.responses[401]!.content).toMatchObject({
    'application/else+json': { schema: { required: ['problem', 'status'] } },
  });
  expect(Object.keys(post!.requestBody!.content)).toEqual(['application/else+json']);
});
